"""What both kinds of links share: limits on requests, the actor behind a link, and their common answers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mainstay.doors.bearer_auth import REQUESTS_A_MINUTE, BearerAuth
from mainstay.doors.http import (
    RETRY_LATER,
    UNAVAILABLE,
    Headers,
    HttpError,
    Request,
    Response,
    error_response,
    is_unavailable,
    log_fault,
)
from mainstay.doors.refusal_responses import refusal_response
from mainstay.doors.server_names import ServerNames, network_of
from mainstay.identity.authenticate import actor_of_credential
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.refusal import NotFound, Refusal, TooManyRequests, Unauthenticated

# The requests from one network for all links together: more than programs need, and too few to guess any.
REQUESTS_FROM_NETWORK = 300
_TOO_MANY = Message("Too many requests. Wait a minute, then try again.")
# A link is a secret: nobody may learn it from a page that it leads to, and no search engine may keep it.
_LINK_HEADERS: Headers = (("referrer-policy", "no-referrer"), ("x-robots-tag", "noindex, nofollow"))


class UnknownLink(Exception):
    """The link was never made, was used or has expired, or its program has lost its access: nobody learns which."""


@dataclass(frozen=True, slots=True)
class LinkAccess:
    """Lets in requests that bring the secret of a link instead of a key."""

    auth: BearerAuth
    addresses: ServerNames

    async def count_request(self, request: Request) -> None:
        """Count a request of its network. Raise TooManyRequests if there were too many within a minute."""
        network = network_of(self.addresses.client_address(request.peer, request.headers))
        if not (await self.auth.limits.take(f"links from {network}", REQUESTS_FROM_NETWORK)).accepted:
            raise TooManyRequests(_TOO_MANY)

    async def find_actor(self, organisation: str, credential: str) -> Actor:
        """Return the actor who asked for a link, with the rights of now; count the request as any other of theirs."""
        actor = await self.auth.runner.run_read(self._read_actor, organisation, credential)
        if actor.client:
            self.auth.last_used.note_use(organisation, credential, self.auth.performer.clock())
        if not (await self.auth.limits.take(credential, REQUESTS_A_MINUTE)).accepted:
            raise TooManyRequests(_TOO_MANY)
        return actor

    def _read_actor(self, organisation: str, credential: str) -> Actor:
        with self.auth.performer.database.single_read(organisation) as db:
            try:
                return actor_of_credential(db, credential, Door.AGENT, self.auth.performer.clock())
            except (Unauthenticated, NotFound):
                raise UnknownLink from None


async def answer_link(
    request: Request, answer: Callable[[Request, str], Awaitable[Response]], no_link: str, route_number: int
) -> Response:
    """Answer a request with the secret that ends its path; any fault of the link has the same answer."""
    try:
        response = await answer(request, request.path.rpartition("/")[2])
    except (UnknownLink, Unauthenticated):
        response = error_response(404, no_link)
    except Refusal as refusal:
        response = refusal_response(refusal)
    except HttpError as http_error:
        response = error_response(http_error.status, http_error.text, http_error.headers)
    except Exception as error:
        if not is_unavailable(error):
            raise
        log_fault(error, request)
        response = error_response(503, str(UNAVAILABLE), RETRY_LATER)
    # An answer with a file has some of these already.
    response.headers = (*{**dict(_LINK_HEADERS), **dict(response.headers)}.items(),)
    response.route_number = route_number
    return response


def check_method(request: Request, *methods: str) -> None:
    """Refuse a request with another method."""
    if request.method not in methods:
        raise HttpError(405, "This method is not allowed here.", (("allow", ", ".join(methods)),))
