import { expect, test } from '@jest/globals';
import { streamAnswer } from '../../../packages/cairn/src/api/routes/stream/server-sent.ts';

/** A stream that waits until its reader has left, and the calls that it made. */
function waiting(after: () => void = () => {}) {
  const said: unknown[] = [];
  const gone = Promise.withResolvers<void>();
  async function* told(): AsyncGenerator<string> {
    await gone.promise;
    after();
    yield* [];
  }
  const answer = streamAnswer({
    source: told(),
    frame: String,
    onEnd: () => said.push('end'),
    onCancel: () => gone.resolve(),
    onError: (error) => said.push(error),
  });
  return { answer, said };
}

test.each([
  ['ends', () => {}],
  [
    'fails',
    () => {
      throw new Error('the watch is over');
    },
  ],
])(
  'a stream whose reader leaves while it waits ends once without an error, even if it then %s',
  async (_, after) => {
    const { answer, said } = waiting(after);
    const reader = answer.body?.getReader();
    await reader?.read();
    const pulled = reader?.read();
    await reader?.cancel().catch(() => {});
    await pulled;
    await new Promise(setImmediate);
    expect(said).toEqual(['end']);
  },
);
