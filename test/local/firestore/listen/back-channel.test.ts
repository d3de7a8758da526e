/** The back channel of a web channel, without HTTP. */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import type { ChannelStream } from '../../../../packages/local-firestore/src/web-channel/channel-stream.ts';
import { WebChannel } from '../../../../packages/local-firestore/src/web-channel/web-channel.ts';

const MIB = 1024 * 1024;

class FakeResponse extends EventEmitter {
  readonly writableNeedDrain = false;
  flushHeaders() {}
  write() {
    return true;
  }
  end() {}
}

test('a call that waited goes on when enough is acknowledged, before its back channel has ended', () => {
  let drained = 0;
  let push: (text: string) => boolean = () => false;
  const channel = new WebChannel(
    (answers) => {
      push = answers.push;
      const drain = () => {
        drained += 1;
      };
      return { take() {}, drain, cancel() {} } as unknown as ChannelStream;
    },
    () => {},
  );
  channel.openBack(new FakeResponse() as unknown as ServerResponse, false);
  expect(push('a'.repeat(MIB - 1_000))).toBe(true);
  expect(push('b'.repeat(2_000))).toBe(false);
  const before = drained;
  channel.acknowledge(2);
  expect(drained).toBe(before + 1);
  channel.close();
});
