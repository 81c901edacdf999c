"""A server is killed while it works on a question: another one goes on with it, and nothing is done twice."""

import threading
from dataclasses import dataclass, field, replace

from mainstay.business.assistant.model import StepKind, Turn, TurnStatus
from mainstay.business.customers.operations import list_customers
from mainstay.composition import open_performer
from mainstay.settings import Settings
from support.assistant import AssistantOfTests, open_assistant, results_of, text_of
from support.cast import make_cast
from support.model_server import RecordedRequest
from support.model_streams import ScriptedCall, ScriptedTurn
from support.servers import start_server
from support.waiting import wait_until

# As with the real ones, a process that lives renews its lease several times before it expires.
BRIEF = {
    "mainstay.business.assistant.store.LEASE_SECONDS": 2.0,
    "mainstay.doors.assistant.turn_work._HEARTBEAT_SECONDS": 0.5,
}
# How many customers the model makes, one after the other; after how many results it falls silent, and after how many
# the server is killed while it goes on.
CUSTOMERS, SILENT_AFTER, KILLED_AFTER = 6, 2, 4


@dataclass
class Model:
    """Makes customers. At two moments it lets the test know, and once it says no more, so that the answer hangs."""

    moments: dict[int, threading.Event] = field(
        default_factory=lambda: {number: threading.Event() for number in (SILENT_AFTER, KILLED_AFTER)}
    )

    def answer(self, request: RecordedRequest) -> ScriptedTurn:
        """Return the next reply, which only depends on what was done so far."""
        number = len(request.results)
        call = ScriptedCall("create_customer", {"name": f"Customer {number}"})
        reply = ScriptedTurn("Next.", (call,)) if number < CUSTOMERS else ScriptedTurn("Done.")
        moment = self.moments.get(number)
        if moment is None or moment.is_set():
            return reply
        moment.set()
        return replace(reply, delivery="stall") if number == SILENT_AFTER else reply


def test_a_question_outlives_two_servers_and_everything_is_done_once(fresh_settings: Settings) -> None:
    performer = open_performer(fresh_settings)
    cast = make_cast(performer)
    model = Model()
    with open_assistant(cast) as assistant:
        assistant.model.answer = model.answer
        settings = replace(fresh_settings, workers=1, assistant_url=assistant.model.url, assistant_model="scripted")
        turn = assistant.ask("Make some customers.")
        for moment in model.moments.values():
            with start_server(settings, constants=BRIEF) as server:
                assert moment.wait(60)
                server.kill()
        with start_server(settings, constants=BRIEF):
            turn = wait_until(lambda: find_ended(assistant, turn))
        assert (turn.status, text_of(turn)) == (TurnStatus.DONE, "Done.")
        assert [one["isError"] for one in results_of(turn)] == [False] * CUSTOMERS
        assert len([step for step in turn.steps if step.kind is StepKind.SAID]) == CUSTOMERS + 1
        assert [request.fault for request in assistant.model.requests if request.fault] == []
        names = sorted(customer["name"] for customer in cast.perform(list_customers)["data"])
        assert names == [f"Customer {number}" for number in range(CUSTOMERS)]
    performer.database.close()


def find_ended(assistant: AssistantOfTests, turn: Turn) -> Turn | None:
    """Return the turn once it has ended."""
    now = assistant.read(turn.id)
    return None if now.status.is_open else now
