"""A client of `memoir mcp serve` or `memoir serve`: recalls, remembers, reads a resource, and forgets after the user agreed."""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import ElicitResult


async def agree(context, params):
    return ElicitResult(action="accept", content={"forget": True})


def connect(target, *arguments):
    if target.startswith("http"):
        headers = {"Authorization": f"Bearer {arguments[0]}"}
        return streamable_http_client(target, http_client=create_mcp_http_client(headers=headers))
    return StdioServerParameters(command=target, args=list(arguments), env=dict(os.environ))


async def main(mode, *target):
    server = connect(*target)
    async with Client(server, mode=mode, elicitation_callback=agree) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools[:2] == ["recall", "remember"], tools
        statement = "The staging server of the shop listens on port 8443."
        stored = await client.call_tool("remember", {"statement": statement})
        assert not stored.is_error, stored
        identity = stored.structured_content["id"]
        question = {"question": "Which port does the staging server listen on?"}
        recalled = await client.call_tool("recall", question)
        assert "8443" in recalled.structured_content["answer"], recalled
        resources = [str(resource.uri) for resource in (await client.list_resources()).resources]
        assert any(uri.startswith("memoir://conversation/") for uri in resources), resources
        read = await client.read_resource(resources[0])
        assert "8443" in read.contents[0].text, read
        prompt = await client.get_prompt("recall", question)
        assert "8443" in prompt.messages[0].content.text, prompt
        forgotten = await client.call_tool("forget", {"ids": [identity]})
        assert forgotten.structured_content["forgotten"] is True, forgotten
        recalled = await client.call_tool("recall", question)
        assert recalled.structured_content["passages"] == [], recalled
        print(client.protocol_version)


asyncio.run(main(*sys.argv[1:]))
