/** `@cairn/mcp/stdio`: serves the tools to the program that started this process, over its standard input and output. */
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { mcpServer, type ServerOptions } from './server.ts';

export interface StdioOptions extends ServerOptions {
  /** Ends the connection. */
  readonly interrupted: AbortSignal;
  /** Receives errors of the connection. Errors of tool calls are answered instead. */
  readonly onError: (error: Error) => void;
}

/** Serves until the other side closes standard input, or `interrupted` is aborted. */
export async function serveOverStdio({ interrupted, onError, ...options }: StdioOptions): Promise<void> {
  const transport = new StdioServerTransport();
  const handle = serveStdio(() => mcpServer(options), { transport, onerror: onError });
  await new Promise<void>((resolve) => {
    const done = () => resolve();
    process.stdin.once('end', done);
    process.stdin.once('close', done);
    interrupted.addEventListener('abort', done, { once: true });
    if (interrupted.aborted) done();
  });
  await handle.close();
}
