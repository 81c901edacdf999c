"""An agent outside that connects over MCP: the operator hands each prompt to it, and its answer back."""

from collections.abc import Callable
from dataclasses import dataclass

from mainstay.evaluation.agent import AgentAnswer, AgentFailed, TaskSession
from mainstay.evaluation.firm_server import serve_firm

# The line after the agent's answer.
DONE = "done"


@dataclass(frozen=True)
class OutsideAgent:
    """Shows where to connect and what to say, and reads what the agent answered, up to a line `done`."""

    show: Callable[[str], None]
    # Returns a line with its end; an empty text when there are no more.
    read_line: Callable[[], str]

    def run(self, prompt: str, session: TaskSession) -> AgentAnswer:
        """Serve the firm until the agent has answered, and once more if the person confirms something."""
        settings = session.firm.settings
        with serve_firm(settings, session.open_own_performer()):
            self.show(f"  Address: {settings.base_url}/mcp")
            self.show(f"  Token:   {session.token}")
            self.show(f"  Say:     {session.introduction} {prompt}")
            texts = [self._read_answer()]
            while message := session.reply():
                self.show(f"  Say:     {message}")
                texts.append(self._read_answer())
        return AgentAnswer("\n".join(texts))

    def _read_answer(self) -> str:
        self.show(f"  Then enter its answer, and a line with the word {DONE}.")
        lines: list[str] = []
        while line := self.read_line():
            if line.strip().casefold() == DONE:
                return "".join(lines)
            lines.append(line)
        raise AgentFailed(f"Its answer ended without a line with the word {DONE}.")
