import { expect, test } from '@jest/globals';
import { fromText, readableValue, UnreadableText } from '../../../packages/cairn/src/core/run/readable.ts';

test.each(['', '{', '{{}:1}', 'undefined', 'a secret'])(
  'stored text that is no JSON (%j) is reported without it',
  (text) => {
    for (const read of [
      () => fromText(text),
      () => readableValue({ payloadText: text }),
      () => readableValue({ result: { text } }),
    ]) {
      expect(read).toThrow(UnreadableText);
      expect(read).toThrow(/^a stored value is not JSON$/);
    }
  },
);
