import { spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  collectWhenIdle,
  IDLE_LOOKS,
  LOOK_EVERY_MS,
  REQUESTS_BETWEEN,
} from '../../../packages/local/src/idle-gc.ts';

const IDLE_GC = import.meta.resolve('../../../packages/local/src/idle-gc.ts');

describe('a worker that becomes idle', () => {
  let server: EventEmitter;
  const collect = jest.fn();
  let worked: () => void;
  let passedOn = 0;

  beforeEach(() => {
    jest.useFakeTimers();
    collect.mockClear();
    server = new EventEmitter();
    worked = collectWhenIdle(server as Server, { collect, passedOn: () => passedOn });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Begins a request; the returned function ends it. */
  function request(headers = {}): () => void {
    const response = new EventEmitter();
    server.emit('request', { headers }, response);
    return () => void response.emit('close');
  }

  /** Advances by the required idle time. */
  const idle = (times = 1) => jest.advanceTimersByTime(times * IDLE_LOOKS * LOOK_EVERY_MS);

  test('frees memory when idle after its first request, once', () => {
    request()();
    jest.advanceTimersByTime(IDLE_LOOKS * LOOK_EVERY_MS - 1);
    expect(collect).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(collect).toHaveBeenCalledTimes(1);
    idle(20);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  test('frees memory after some idle time, because a spare may never get a request, and after the first one', () => {
    server.emit('listening');
    idle();
    expect(collect).toHaveBeenCalledTimes(1);
    request()();
    idle();
    expect(collect).toHaveBeenCalledTimes(2);
  });

  test('frees memory when it is idle after other work', () => {
    server.emit('listening');
    jest.advanceTimersByTime((IDLE_LOOKS - 1) * LOOK_EVERY_MS);
    worked();
    jest.advanceTimersByTime((IDLE_LOOKS - 1) * LOOK_EVERY_MS);
    expect(collect).not.toHaveBeenCalled();
    jest.advanceTimersByTime(LOOK_EVERY_MS);
    expect(collect).toHaveBeenCalledTimes(1);
    idle(20);
    expect(collect).toHaveBeenCalledTimes(1);
    worked();
    idle();
    expect(collect).toHaveBeenCalledTimes(2);
  });

  test('does so again only after many more requests', () => {
    request()();
    idle();
    for (let i = 1; i < REQUESTS_BETWEEN; i += 1) {
      request()();
      idle();
    }
    expect(collect).toHaveBeenCalledTimes(1);
    request()();
    idle();
    expect(collect).toHaveBeenCalledTimes(2);
  });

  test('never does so during a request, however long it takes', () => {
    const end = request();
    request()();
    idle(20);
    expect(collect).not.toHaveBeenCalled();
    end();
    idle();
    expect(collect).toHaveBeenCalledTimes(1);
  });

  test('is idle with calls by schedules, such as the periodic scan, not with other requests', () => {
    const looksWith = (count: number, headers?: object) => {
      for (let i = 0; i < count; i += 1) {
        request(headers)();
        jest.advanceTimersByTime(LOOK_EVERY_MS);
      }
    };
    looksWith(20);
    expect(collect).not.toHaveBeenCalled();
    looksWith(IDLE_LOOKS, { 'x-cloudscheduler': 'true' });
    expect(collect).toHaveBeenCalledTimes(1);
  });

  test('frees memory once, if only schedules call it', () => {
    for (let i = 0; i < 20 * IDLE_LOOKS; i += 1) {
      request({ 'x-cloudscheduler': 'true' })();
      jest.advanceTimersByTime(LOOK_EVERY_MS);
    }
    expect(collect).toHaveBeenCalledTimes(1);
  });

  test('is not idle while it passes requests on', () => {
    request()();
    for (let i = 0; i < 20; i += 1) {
      passedOn += 1;
      jest.advanceTimersByTime(LOOK_EVERY_MS);
    }
    expect(collect).not.toHaveBeenCalled();
    idle();
    expect(collect).toHaveBeenCalledTimes(1);
  });
});

test('a collection restores the V8 flags, so that later modules come from the compile cache', () => {
  // In a separate process, because other tests of this one have set flags.
  const code = `
    import { cachedDataVersionTag } from 'node:v8';
    import { collectAll } from ${JSON.stringify(IDLE_GC)};
    const before = cachedDataVersionTag();
    collectAll();
    process.exit(cachedDataVersionTag() === before ? 0 : 1);`;
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', code]).status).toBe(0);
});
