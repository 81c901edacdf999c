"""The ceiling: an empty answer, with no key, no limit and no database. Nothing that does work can be faster."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


async def empty(_request: Request) -> JSONResponse:
    return JSONResponse({})


app = Starlette(routes=[Route("/", empty)])
