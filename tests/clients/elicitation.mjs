// Calls a tool with the TypeScript SDK, whose person replies to its question. Prints the question and the answer.
// Arguments: where the SDK is, the address of the server, a token, the tool, its input, and the reply as JSON.
import { pathToFileURL } from "node:url";

const [sdk, address, token, tool, input, reply] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(sdk));
const client = new Client(
  { name: "elicitation", version: "1" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
const questions = [];
client.setRequestHandler("elicitation/create", async (request) => {
  questions.push(request.params);
  return JSON.parse(reply);
});
await client.connect(
  new StreamableHTTPClientTransport(new URL(address), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  }),
);
const result = await client.callTool({ name: tool, arguments: JSON.parse(input) });
console.log(JSON.stringify({ questions, result }));
await client.close();
