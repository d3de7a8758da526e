import { spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  collectWhenIdle,
  IDLE_MS,
  REQUESTS_BETWEEN,
  UNUSED_MS,
} from '../../../packages/local/src/idle-gc.ts';

const IDLE_GC = import.meta.resolve('../../../packages/local/src/idle-gc.ts');

describe('a worker that becomes idle', () => {
  let server: EventEmitter;
  const collect = jest.fn();
  let worked: () => void;

  beforeEach(() => {
    jest.useFakeTimers();
    collect.mockClear();
    server = new EventEmitter();
    worked = collectWhenIdle(server as Server, { collect });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Begins a request; the returned function ends it. */
  function request(): () => void {
    const response = new EventEmitter();
    server.emit('request', {}, response);
    return () => void response.emit('close');
  }

  test('frees memory shortly after its first request, once', () => {
    request()();
    jest.advanceTimersByTime(IDLE_MS - 1);
    expect(collect).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(collect).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(100 * IDLE_MS);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  test('frees memory after some idle time, because a spare may never get a request', () => {
    server.emit('listening');
    jest.advanceTimersByTime(UNUSED_MS - 1);
    expect(collect).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(collect).toHaveBeenCalledTimes(1);
    request()();
    jest.advanceTimersByTime(IDLE_MS);
    expect(collect).toHaveBeenCalledTimes(2);
  });

  test('frees memory when it is idle after other work', () => {
    server.emit('listening');
    worked();
    jest.advanceTimersByTime(IDLE_MS);
    expect(collect).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(UNUSED_MS);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  test('after other work, frees no memory during a request', () => {
    worked();
    const end = request();
    worked();
    jest.advanceTimersByTime(10 * IDLE_MS);
    expect(collect).not.toHaveBeenCalled();
    end();
    jest.advanceTimersByTime(IDLE_MS);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  test('does so again only after many more requests', () => {
    request()();
    jest.advanceTimersByTime(IDLE_MS);
    for (let i = 1; i < REQUESTS_BETWEEN; i += 1) {
      request()();
      jest.advanceTimersByTime(IDLE_MS);
    }
    expect(collect).toHaveBeenCalledTimes(1);
    request()();
    jest.advanceTimersByTime(IDLE_MS);
    expect(collect).toHaveBeenCalledTimes(2);
  });

  test('never does so during a request, however long it takes', () => {
    const end = request();
    request()();
    jest.advanceTimersByTime(100 * IDLE_MS);
    expect(collect).not.toHaveBeenCalled();
    end();
    jest.advanceTimersByTime(IDLE_MS);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  test('waits again if a request arrives before the delay is over', () => {
    request()();
    jest.advanceTimersByTime(IDLE_MS - 1);
    const end = request();
    jest.advanceTimersByTime(IDLE_MS);
    expect(collect).not.toHaveBeenCalled();
    end();
    jest.advanceTimersByTime(IDLE_MS);
    expect(collect).toHaveBeenCalledTimes(1);
  });
});

test('a collection restores the V8 flags, so that later modules come from the compile cache', () => {
  // In a process of its own: other tests of this one have set flags.
  const code = `
    import { cachedDataVersionTag } from 'node:v8';
    import { collectAll } from ${JSON.stringify(IDLE_GC)};
    const before = cachedDataVersionTag();
    collectAll();
    process.exit(cachedDataVersionTag() === before ? 0 : 1);`;
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', code]).status).toBe(0);
});
