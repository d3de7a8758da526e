/** Probes of a worker by its link, or without a link by the channel. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { FrameClient } from '@cairn/local-kit/wire/frame-client';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { functionsServer } from '../../../../packages/local/src/host/functions-server.ts';
import { openLink } from '../../../../packages/local/src/host/link/open-link.ts';
import { ServedLink } from '../../../../packages/local/src/host/link/serve-link.ts';
import { Probes } from '../../../../packages/local/src/host/workers/probes.ts';
import { until } from '../../support.ts';

const TICK_MS = 500;

let server: Server;
let served: ServedLink;
let link: FrameClient;
/** The worker's end of the link. */
let peer: Socket;
let probes: Probes;
let byChannel: number;
beforeEach(async () => {
  const handlers = new Map();
  server = functionsServer(handlers, Date.now);
  served = new ServedLink(server, { handlers, tasks: new Set(), now: Date.now });
  server.on('upgrade', (_request, socket: Socket) => {
    peer = socket;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  link = (await openLink((server.address() as AddressInfo).port)) as FrameClient;
  byChannel = 0;
  probes = new Probes(() => {
    byChannel += 1;
  });
});
afterEach(() => {
  link.close();
  server.close();
  server.closeAllConnections();
});

/** Resolves when the worker has answered everything sent before, with its original socket. */
async function roundTrip(): Promise<void> {
  const answered = Promise.withResolvers<void>();
  link.call('/Unknown', Buffer.alloc(0), { onMessage() {}, onEnd: () => answered.resolve() });
  await answered.promise;
}
function noBuffers(): never {
  throw new Error('no buffers');
}
const unanswered = (turns = true) => probes.unansweredFor(TICK_MS, turns);

test('a worker that answers by its link is asked again and again, and not by the channel', async () => {
  probes.useLink(link);
  for (let check = 0; check < 3; check += 1) {
    expect(unanswered()).toBe(0);
    await roundTrip();
  }
  let answers = 0;
  probes.ask(() => {
    answers += 1;
  });
  await until(() => answers === 1, 'the answer');
  expect(byChannel).toBe(0);
});

test.each<[string, () => unknown]>([
  ['writes nothing', () => Object.assign(peer, { write: () => true })],
  ['cannot encode', () => Object.assign(peer, { cork: noBuffers })],
  ['has lost the link', () => peer.destroy()],
  ['is ending', () => served.drain(60_000)],
])('time in which a worker %s counts while its event loop turns', async (_what, breakIt) => {
  probes.useLink(link);
  breakIt();
  unanswered();
  await until(() => unanswered() >= 3 * TICK_MS, 'checks without an answer');
});

test('time in which the event loop of a worker is blocked does not count', async () => {
  probes.useLink(link);
  peer.pause();
  unanswered();
  expect([unanswered(), unanswered(false), unanswered(false)]).toEqual([TICK_MS, TICK_MS, TICK_MS]);
  peer.resume();
  await until(() => unanswered() === 0, 'the answer');
});

test('a worker without a link is asked by the channel, and answers in order', () => {
  const answers: string[] = [];
  for (const name of ['first', 'second']) probes.ask(() => answers.push(name));
  expect(unanswered()).toBe(0);
  expect(byChannel).toBe(3);
  probes.answeredByChannel();
  probes.answeredByChannel();
  expect(answers).toEqual(['first', 'second']);
  expect([unanswered(), unanswered()]).toEqual([TICK_MS, 2 * TICK_MS]);
  probes.answeredByChannel();
  expect(unanswered()).toBe(0);
});
