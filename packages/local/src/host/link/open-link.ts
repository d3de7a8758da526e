/** Opens the link to a worker, on the side of the cloud process. Independent of its messages. */
import { request } from '@cairn/local-kit/http/node-http';
import { FrameClient } from '@cairn/local-kit/wire/frame-client';
import { UPGRADE } from './messages.ts';

/** Resolves with undefined if the worker is ending or its main does not support frames. */
export function openLink(port: number): Promise<FrameClient | undefined> {
  return new Promise((resolve) => {
    const asking = request({
      host: '127.0.0.1',
      port,
      agent: false,
      headers: { connection: 'Upgrade', upgrade: UPGRADE },
    });
    asking.once('upgrade', (_answer, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      // The connection must not keep the process alive.
      socket.unref();
      resolve(new FrameClient(socket));
    });
    asking.once('response', (answer) => {
      answer.resume();
      resolve(undefined);
    });
    asking.once('error', () => resolve(undefined));
    asking.end();
  });
}
