// Calls tools with the TypeScript SDK after it has read their schemas, against which it checks each answer. Prints the
// answers. Arguments: where the SDK is, the address of the server, a token, and the calls as JSON.
import { pathToFileURL } from "node:url";

const [sdk, address, token, calls] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(sdk));
const client = new Client({ name: "whole answers", version: "1" });
await client.connect(
  new StreamableHTTPClientTransport(new URL(address), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  }),
);
await client.listTools();
const answers = [];
for (const [name, input] of JSON.parse(calls)) {
  const result = await client.callTool({ name, arguments: input });
  answers.push(result.structuredContent);
}
console.log(JSON.stringify(answers));
await client.close();
