"""A server with the SDK's current revision: `sdk_server.py stdio` or `sdk_server.py PORT`."""
import sys
from typing import Annotated

import anyio
from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("sdk")


class Sure(BaseModel):
    sure: bool


@server.tool()
async def grow(context: Context) -> str:
    """Adds a tool."""
    server.add_tool(lambda: "grown", name="grown", description="A new tool.")
    await context.notify_tools_changed()
    return "there is a new tool"


@server.tool()
async def walk(context: Context) -> str:
    """Reports its progress."""
    await context.report_progress(1, 2, "half way")
    await anyio.sleep(0.5)
    return "arrived"


def question() -> Elicit[Sure]:
    return Elicit("Sell the house?", Sure)


@server.tool()
async def ask(answer: Annotated[ElicitationResult[Sure], Resolve(question)]) -> str:
    """Asks the user."""
    return f"the answer is {answer}"


@server.prompt()
def greet(name: str) -> str:
    """Greets somebody."""
    return f"Please greet {name}."


@server.resource("note://1")
def note() -> str:
    """A note."""
    return "Feed the cat."


if sys.argv[1] == "stdio":
    server.run()
else:
    server.run("streamable-http", port=int(sys.argv[1]))
