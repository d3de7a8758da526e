/**
 * The filter of ListQueues: comparisons of a queue's fields, joined by AND. Owns the grammar and the set of fields.
 * Pure.
 */
import { invalid } from './errors.ts';
import type { QueueConfig } from './model.ts';

type FilterValue = string | number;

/** Readers by field name of the protocol. */
const FIELDS: Readonly<Record<string, (queue: QueueConfig) => FilterValue>> = {
  name: (queue) => queue.name,
  state: (queue) => queue.state.toUpperCase(),
  'rate_limits.max_dispatches_per_second': (queue) => queue.rateLimits.maxDispatchesPerSecond,
  'rate_limits.max_burst_size': (queue) => queue.rateLimits.maxBurstSize,
  'rate_limits.max_concurrent_dispatches': (queue) => queue.rateLimits.maxConcurrentDispatches,
  'retry_config.max_attempts': (queue) => queue.retry.maxAttempts,
  'retry_config.max_doublings': (queue) => queue.retry.maxDoublings,
};

const COMPARISON =
  /^\s*([A-Za-z_.]{1,60})\s*(<=|>=|!=|<|>|=|:)\s*(?:"([^"\\]{0,500})"|([^\s"()]{1,500}))\s*$/;

/** `:` means "has" for a text and "equals" for a number. */
const OPERATORS: Readonly<Record<string, (is: FilterValue, wanted: FilterValue) => boolean>> = {
  '=': (is, wanted) => is === wanted,
  '!=': (is, wanted) => is !== wanted,
  '<': (is, wanted) => is < wanted,
  '<=': (is, wanted) => is <= wanted,
  '>': (is, wanted) => is > wanted,
  '>=': (is, wanted) => is >= wanted,
  ':': (is, wanted) => (typeof is === 'string' ? is.includes(String(wanted)) : is === wanted),
};

/** An empty filter matches every queue. @throws GrpcRefusal for an unsupported filter */
export function parseQueueFilter(text: string): (queue: QueueConfig) => boolean {
  if (text.trim() === '') return () => true;
  const comparisons = text.split(/\sAND\s/).map(comparisonFrom);
  return (queue) => comparisons.every((matches) => matches(queue));
}

function comparisonFrom(text: string): (queue: QueueConfig) => boolean {
  const [, name = '', operator = '', quoted, plain] = COMPARISON.exec(text) ?? [];
  const path = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const field = Object.hasOwn(FIELDS, path) ? FIELDS[path] : undefined;
  const compare = OPERATORS[operator];
  if (field === undefined || compare === undefined) {
    const shown = text.slice(0, 100).replace(/[^\x20-\x7e]/g, '?');
    throw invalid(`ListQueuesRequest.filter: '${shown}' is not a comparison of a queue field.`);
  }
  const wanted = quoted ?? plain ?? '';
  return (queue) => {
    const is = field(queue);
    return compare(is, typeof is === 'number' ? Number(wanted) : wanted);
  };
}
