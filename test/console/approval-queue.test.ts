import { beforeEach, expect, test } from '@jest/globals';
import { ApprovalQueue, UNDO_MS } from '../../packages/console/src/pages/inbox/approval-queue.ts';

/** Pending timers. */
let clocks: (() => void)[];
let sent: string[][];
let signedIn: string;
/** The person as whom each batch was sent. */
let senders: string[];
let ends: ((item: string, error: unknown) => void)[];
let queue: ApprovalQueue<string>;
beforeEach(() => {
  clocks = [];
  sent = [];
  signedIn = 'ada';
  senders = [];
  ends = [];
  queue = new ApprovalQueue<string>({
    keyOf: (item) => item,
    later(ms, call) {
      expect(ms).toBe(UNDO_MS);
      clocks.push(call);
      return () => {
        clocks = clocks.filter((clock) => clock !== call);
      };
    },
    sender: () => {
      const by = signedIn;
      return async (items, onEnd) => {
        sent.push([...items]);
        senders.push(by);
        ends.push(onEnd);
      };
    },
  });
});
const states = () => Object.fromEntries([...queue.shown()].map(([key, { at }]) => [key, at]));
const timesUp = () => {
  for (const clock of clocks.splice(0)) clock();
};

test('an approval is sent when the undo period ends, and not before', () => {
  queue.approve(['a']);
  expect([states(), sent]).toEqual([{ a: 'waiting' }, []]);
  timesUp();
  expect([states(), sent]).toEqual([{ a: 'sending' }, [['a']]]);
  ends[0]?.('a', undefined);
  expect(states()).toEqual({});
});

test('an undo drops the whole batch that was approved together', () => {
  queue.approve(['a', 'b']);
  queue.approve(['c']);
  queue.undo('b');
  timesUp();
  expect([states(), sent]).toEqual([{ c: 'sending' }, [['c']]]);
});

test('an approval is not sent twice; a failed one can be approved again', () => {
  queue.approve(['a']);
  queue.approve(['a', 'b']);
  timesUp();
  queue.approve(['a']);
  timesUp();
  expect(sent).toEqual([['a'], ['b']]);
  ends[0]?.('a', new Error('refused'));
  expect(states()).toEqual({ a: 'failed', b: 'sending' });
  queue.approve(['a']);
  timesUp();
  expect(sent).toEqual([['a'], ['b'], ['a']]);
});

test('a pending approval is sent once when the page is left', () => {
  queue.approve(['a']);
  queue.flush();
  timesUp();
  queue.flush();
  expect(sent).toEqual([['a']]);
});

test('an undo after sending changes nothing', () => {
  queue.approve(['a']);
  timesUp();
  queue.undo('a');
  expect(states()).toEqual({ a: 'sending' });
});

test('an approval is sent as the person who approved, whoever is signed in when it is sent', () => {
  queue.approve(['a']);
  signedIn = 'bea';
  queue.approve(['b']);
  timesUp();
  queue.approve(['c']);
  signedIn = 'cyd';
  queue.flush();
  expect(senders).toEqual(['ada', 'bea', 'bea']);
});
