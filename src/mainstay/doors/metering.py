"""What the meters count requests by."""

from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.routes import endpoints_of

# Routes as the meters count them; the first is for requests that found no route.
METERED = ("none", *(endpoint.operation.name for endpoint in endpoints_of(CATALOGUE.operations)), "mcp")
