/** `mcp`: serves the installation as tools to an agent, over standard input and output. */
import { type CairnClient, Unreachable } from '@cairn/client';
import { command } from '../arguments/command.ts';
import { Declined } from '../exit.ts';

export const mcp = command({
  name: 'mcp',
  summary: 'Serve the installation as tools to an agent (Model Context Protocol, over stdio)',
  details:
    'For the configuration of an agent, not for a terminal: it speaks JSON-RPC on standard input and output until the agent\nleaves. The agent may do what the role of the key allows, and each change only after its preview.',
  examples: [
    ['mcp', 'with the local cloud that runs here'],
    ['mcp --url https://runs.example.com --key-file agent.key', 'with a key of the role the agent needs'],
  ],
  async run({ connected, world, notes }) {
    // An agent may start this process before the local cloud and keep it while the cloud restarts.
    const client = (): CairnClient => {
      try {
        return connected();
      } catch (error) {
        if (!(error instanceof Declined)) throw error;
        throw new Unreachable([error.message, error.help].filter(Boolean).join('. '), undefined, error);
      }
    };
    // Loaded on demand: the SDK takes as long to load as everything else.
    const { serveOverStdio } = await import('@cairn/mcp/stdio');
    await serveOverStdio({
      client,
      secret: world.token(),
      interrupted: world.interrupted,
      onError: ({ message }) => notes.print(`${message}\n`),
    });
    return undefined;
  },
});
