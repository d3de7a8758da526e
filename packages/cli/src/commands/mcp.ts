/** `mcp`: serves the installation as tools to an agent, over standard input and output. */
import { command } from '../arguments/command.ts';

export const mcp = command({
  name: 'mcp',
  summary: 'Serve the installation as tools to an agent (Model Context Protocol, over stdio)',
  details:
    'For the configuration of an agent, not for a terminal: it speaks JSON-RPC on standard input and output until the agent\nleaves. The agent may do what the role of the key allows, and each change only after its preview.',
  args: {},
  options: {},
  examples: [
    ['mcp', 'with the local cloud that runs here'],
    ['mcp --url https://runs.example.com --key-file agent.key', 'with a key of the role the agent needs'],
  ],
  async run({ api, world, notes }) {
    // Loaded by this command only: the SDK takes as long to load as everything else.
    const { serveOverStdio } = await import('@cairn/mcp/stdio');
    await serveOverStdio({
      client: api,
      secret: world.token(),
      interrupted: world.interrupted,
      onError: ({ message }) => notes.print(`${message}\n`),
    });
    return undefined;
  },
});
