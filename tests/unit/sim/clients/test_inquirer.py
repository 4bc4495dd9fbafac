from andiron.sim.clients.inquirer import Inquirer
from andiron.sim.watcher import Watcher
from andiron.wire.apis import ApiKey


class Counting(Watcher):
    def __init__(self):
        self.keys = []

    def said(self, host, exchange):
        self.keys.append(exchange.key)


def test_it_asks_by_time_and_by_epoch_until_it_closes(quiet):
    quiet.create()
    for number in range(10):
        quiet.write(b"%d" % number)
    counting = Counting()
    quiet.world.watch([counting])
    inquirer = Inquirer(quiet.world, quiet.network, "inquirer", ["orders"], 100)
    inquirer.begin()
    quiet.run(10_000)
    inquirer.is_closing = True
    quiet.run(10_000)
    assert inquirer.is_done
    assert counting.keys.count(ApiKey.LIST_OFFSETS) > counting.keys.count(ApiKey.OFFSET_FOR_LEADER_EPOCH) > 0
