/** Listen and Write over WebChannel, which clients in browsers use. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generator } from '../../../../packages/local-firestore/src/seeded.ts';
import { type Bench, startBench } from '../support/client.ts';
import { database } from '../support/requests.ts';
import { nobodyListens } from './seen.ts';
import { ChannelClient } from './web-channel-client.ts';

let bench: Bench;

beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench.stop());

const documents = `${database}/documents`;
const listenTo = (collection: string) => ({
  database,
  addTarget: {
    targetId: 2,
    query: { parent: documents, structuredQuery: { from: [{ collectionId: collection }] } },
  },
});

interface Change {
  readonly documentChange?: { readonly document: { readonly name: string; readonly fields?: object } };
  readonly documentDelete?: { readonly document: string };
  readonly targetChange?: { readonly targetChangeType?: string };
}

/** Documents that a client has after applying the answers in order. */
function shownBy(answers: readonly unknown[]): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [change] of answers as readonly (readonly [Change])[]) {
    const { documentChange, documentDelete } = change;
    if (documentChange) shown[idOf(documentChange.document.name)] = documentChange.document.fields;
    if (documentDelete) delete shown[idOf(documentDelete.document)];
  }
  return shown;
}

const idOf = (name: string) => name.slice(name.lastIndexOf('/') + 1);
const writtenOf = (answers: readonly unknown[]) =>
  (answers as readonly (readonly [{ writeResults?: object[] }])[]).filter(([one]) => one.writeResults).length;

describe('the answers of a channel', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'arrive all, in order and unchanged, however the back channel is cut and acknowledged (seed %i)',
    async (seed) => {
      const random = generator(seed);
      const below = (n: number) => Math.floor(random() * n);
      const collection = bench.db.collection(`cut-${seed}`);
      const channel = new ChannelClient(bench.server.host, 'Listen');
      await channel.send(listenTo(collection.id));
      const expected: Record<string, unknown> = {};
      for (let i = 0; i < 30; i++) {
        const id = `d${below(6)}`;
        if (random() < 0.3) {
          await collection.doc(id).delete();
          delete expected[id];
        } else {
          const text = 'é🎉\n"'.repeat(below(40));
          await collection.doc(id).set({ i, text });
          expected[id] = { i: { integerValue: String(i) }, text: { stringValue: text } };
        }
        if (random() < 0.5) {
          const acknowledged = Math.max(0, channel.complete - below(3));
          await channel.read({ longPoll: random() < 0.5, acknowledged });
        }
        if (random() < 0.1) await channel.repeat();
      }
      await collection.doc('last').set({});
      expected.last = {};
      await channel.readUntil((answers) => 'last' in shownBy(answers));
      expect(shownBy(channel.answers)).toEqual(
        Object.fromEntries(Object.entries(expected).map(([id, f]) => [id, id === 'last' ? undefined : f])),
      );
      await channel.terminate();
    },
  );

  test('beyond a mebibyte that is not acknowledged end the back channel, wait, and continue with the next', async () => {
    const text = 'x'.repeat(300_000);
    for (let i = 0; i < 12; i++) await bench.db.doc(`large/d${i}`).set({ text });
    const channel = new ChannelClient(bench.server.host, 'Listen');
    await channel.send(listenTo('large'));
    await channel.read({ longPoll: false });
    const [, , unacknowledged] = (await channel.send()) as [number, number, number];
    // The last answer was sent when there was still room.
    expect(unacknowledged).toBeLessThan(1024 * 1024 + 2 * text.length);
    await channel.readUntil((answers) => Object.keys(shownBy(answers)).length === 12);
    await channel.terminate();
  });

  test('a page that requests a stream gets a message at once, so that it does not assume a buffering proxy', async () => {
    const channel = new ChannelClient(bench.server.host, 'Write');
    await channel.send();
    await channel.read({ longPoll: false });
    expect(channel.received.get(1)).toEqual(['noop']);
    await channel.terminate();
  });
});

describe('the messages of a channel', () => {
  test('are applied once, however often their request is repeated', async () => {
    const channel = new ChannelClient(bench.server.host, 'Write');
    await channel.send({ database });
    await channel.readUntil((answers) => answers.length > 0);
    const [[{ streamToken }]] = channel.answers as [[{ streamToken: string }]];
    const name = `${documents}/once/a`;
    const transform = {
      document: name,
      fieldTransforms: [{ fieldPath: 'n', increment: { integerValue: 1 } }],
    };
    await channel.send({ streamToken, writes: [{ transform }] }, { streamToken, writes: [{ transform }] });
    await channel.repeat();
    await channel.repeat();
    await channel.readUntil((answers) => writtenOf(answers) >= 2);
    expect((await bench.db.doc('once/a').get()).data()).toEqual({ n: 2 });
    await channel.terminate();
  });

  test.each([
    ['no JSON of the call', { databaze: database }, 400, 'INVALID_ARGUMENT'],
    ['refused by the call', { database: 'nonsense' }, 400, 'INVALID_ARGUMENT'],
    ['of a stream that is not known', { database, streamId: 'gone', streamToken: 'AA==' }, 404, 'NOT_FOUND'],
  ])('that are %s end it with a status in JSON', async (_what, message, code, status) => {
    const channel = new ChannelClient(bench.server.host, 'Write');
    await channel.send(message);
    await channel.readUntil((answers) => answers.length >= 2);
    expect(channel.answers).toEqual([[{ error: { code, status, message: expect.any(String) } }], ['close']]);
  });
});

describe('the end of a channel', () => {
  test('ends its call, and further requests get 400 with "Unknown SID"', async () => {
    const channel = new ChannelClient(bench.server.host, 'Listen');
    await channel.send(listenTo('ended'));
    await channel.read();
    await channel.terminate();
    await nobodyListens(bench.server);
    const address = `http://${bench.server.host}/google.firestore.v1.Firestore/Listen/channel?SID=gone&RID=rpc`;
    const response = await fetch(address);
    // Clients check for these words after the beginning of the text.
    expect([response.status, (await response.text()).indexOf('Unknown SID') > 0]).toEqual([400, true]);
  });
});

test('a page of another origin cannot open a channel', async () => {
  const address = `http://${bench.server.host}/google.firestore.v1.Firestore/Listen/channel?RID=1&CVER=22`;
  const response = await fetch(address, { method: 'POST', headers: { origin: 'https://example.com' } });
  expect(response.status).toBe(403);
});
