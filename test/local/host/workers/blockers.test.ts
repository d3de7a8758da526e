/** Users that may block workers. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Blockers } from '../../../../packages/local/src/host/workers/blockers.ts';
import { NO_USER } from '../../../../packages/local/src/host/workers/worker-lease.ts';

let now: number;
let blockers: Blockers<{ hangs: boolean }>;
beforeEach(() => {
  now = 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  blockers = new Blockers();
});
afterEach(() => void jest.restoreAllMocks());

const apart = () => ['ada', 'bob'].filter((user) => blockers.has(user));

test('users of a worker that hung are blockers until a request of theirs ends in one that did not', () => {
  const [hung, sound] = [{ hangs: true }, { hangs: false }];
  const stays = ['ada', 'bob'].map((user) => blockers.enter(hung, user));
  blockers.check();
  expect(apart()).toEqual(['ada', 'bob']);
  hung.hangs = false;
  blockers.check();
  for (const stay of stays) blockers.leave(hung, stay, true);
  expect(apart()).toEqual(['ada', 'bob']);
  // For example moved to another worker.
  blockers.leave(sound, blockers.enter(sound, 'ada'), false);
  expect(apart()).toEqual(['ada', 'bob']);
  blockers.leave(sound, blockers.enter(sound, 'ada'), true);
  expect(apart()).toEqual(['bob']);
});

test('a blocker is forgotten a minute after its worker hung', () => {
  const worker = { hangs: true };
  blockers.enter(worker, 'ada');
  for (const hangs of [true, false]) {
    worker.hangs = hangs;
    blockers.check();
    now += 59_000;
  }
  expect(apart()).toEqual(['ada']);
  now += 2_000;
  blockers.check();
  expect(apart()).toEqual([]);
});

test('requests without a user make no blocker', () => {
  const worker = { hangs: true };
  blockers.enter(worker, NO_USER);
  blockers.check();
  expect(blockers.has(NO_USER)).toBe(false);
});

test('the company of a user is that of other users, and is nobody as long as nobody blocks', () => {
  const [hung, mixed] = [{ hangs: true }, { hangs: false }];
  blockers.enter(mixed, 'ada');
  blockers.enter(mixed, 'bob');
  expect(blockers.companyIn(mixed, 'ada')).toEqual({ servesOthers: false, servesBlocker: false });
  blockers.enter(hung, 'bob');
  blockers.check();
  expect(blockers.companyIn(mixed, 'ada')).toEqual({ servesOthers: true, servesBlocker: true });
  expect(blockers.companyIn(mixed, 'bob')).toEqual({ servesOthers: true, servesBlocker: false });
  expect(blockers.companyIn(hung, 'bob')).toEqual({ servesOthers: false, servesBlocker: false });
});
