/**
 * Owns the idempotency keys of all sources of runs (GitHub deliveries, Slack, Pub/Sub, schedules, API callers), their form as
 * document ids, and the request headers for the key of an API caller.
 *
 * Different parts give different keys: at most one part may contain a colon, and its position is fixed.
 *
 * Must not: read records or decide what an existing key means (see decisions/idempotency.ts).
 */
import { invalidInput } from '../errors.ts';
import { sha256Hex } from './hash.ts';
import { canonicalJson, type Json } from './json.ts';

/** Longest part a caller may choose (a request id, a delivery id). */
export const MAX_KEY_PART = 255;

/** Firestore's limit for a document id. */
const MAX_DOCUMENT_ID_BYTES = 1_500;

/** @param deliveryId the `X-GitHub-Delivery` header, the same over all redeliveries of an event */
export function githubKey(deliveryId: string): string {
  return `github:${part('X-GitHub-Delivery', deliveryId, 'plain')}`;
}

export interface GithubEvent {
  /** Tenant of the run: the same content is a different event in a different tenant. */
  readonly tenantId: string;
  /** `owner/name`; absent for an event without a repository. */
  readonly repo?: string | undefined;
  readonly pullRequest?: number | undefined;
  /** `X-GitHub-Event`. */
  readonly event: string;
  /** Events such as `push` have none. */
  readonly action?: string | undefined;
  readonly payload: { readonly [key: string]: Json | undefined };
}

/** Placeholder for a missing part of an event; no repository and no action has this name. */
const NONE = '-';

/**
 * Members about the hook by which an event arrived, and whether they are the subject of the event. Two hooks (of the repository and
 * of an app) report one event with different values, but two suspended installations differ in nothing else.
 */
const DELIVERY_MEMBERS: ReadonlyMap<string, (of: GithubEvent) => boolean> = new Map([
  ['enterprise', ({ repo, payload }) => repo === undefined && payload.organization === undefined],
  ['hook', isAboutHook],
  ['hook_id', isAboutHook],
  ['installation', ({ event }) => /^installation(_|$)/.test(event)],
  ['organization', ({ repo }) => repo === undefined],
]);

function isAboutHook({ event }: GithubEvent): boolean {
  return event === 'meta' || event === 'ping';
}

function isContent(name: string, of: GithubEvent): boolean {
  const isSubject = DELIVERY_MEMBERS.get(name);
  return isSubject === undefined || isSubject(of);
}

/**
 * Key of the event itself, as opposed to its delivery. Equal for two deliveries of one event, different for two pushes to one
 * pull request, because payloads contain times and commits.
 */
export function githubSecondaryKey(of: GithubEvent): string {
  const { tenantId, repo, pullRequest, event, action, payload } = of;
  if (pullRequest !== undefined && (!Number.isSafeInteger(pullRequest) || pullRequest < 1))
    refuse('pullRequest', 'is not a pull request number');
  const content = Object.fromEntries(Object.entries(payload).filter(([name]) => isContent(name, of)));
  return [
    'github-content',
    part('tenantId', tenantId, 'plain'),
    part('repo', repo ?? NONE, 'plain'),
    pullRequest ?? NONE,
    part('event', event, 'plain'),
    part('action', action ?? NONE, 'plain'),
    sha256Hex(canonicalJson(content)),
  ].join(':');
}

/**
 * @param principal `c.` and the client id, `u.` and the user id, or `a.` and a digest of the user for whom the app calls, so that
 * keys of different callers never collide
 * @param key what the caller sent, see {@link readApiIdempotencyHeader}
 */
export function apiKey(principal: string, key: string): string {
  if (!/^[acu]\../.test(principal))
    refuse('principal', 'must be "c." and a client id, "u." and a user id, or "a." and a digest');
  return `api:${part('principal', principal, 'plain')}:${part('idempotency key', key, 'with colons')}`;
}

/** @param triggerId Slack's `trigger_id`, unique per interaction, itself unique only within its team */
export function slackKey(teamId: string, triggerId: string): string {
  return `slack:${part('team_id', teamId, 'plain')}:${part('trigger_id', triggerId, 'with colons')}`;
}

/**
 * @param slotMs due time of the schedule, epoch ms, not the time it fired; seconds are dropped, because slots are whole minutes
 */
export function schedulerKey(scheduleId: string, slotMs: number): string {
  const minute = isoOf(slotMs).slice(0, 'YYYY-MM-DDTHH:MM'.length);
  return `scheduler:${part('scheduleId', scheduleId, 'plain')}:${minute}:00Z`;
}

/** @param subscription its name; may contain a colon (in domain-scoped projects), unlike message ids */
export function pubsubKey(subscription: string, messageId: string): string {
  return `pubsub:${part('subscription', subscription, 'with colons')}:${part('messageId', messageId, 'plain')}`;
}

/**
 * The part of a stored key from its sender: for GitHub the delivery, for the API the caller's key, for Slack the trigger, for
 * Pub/Sub the message, for a schedule its id and slot.
 */
export function keyAsSent(key: string): string {
  const [source = '', first = ''] = key.split(':', 2);
  const rest = key.slice(source.length + 1);
  switch (source) {
    case 'api':
    case 'slack':
      return rest.slice(first.length + 1);
    case 'pubsub':
      return rest.slice(rest.lastIndexOf(':') + 1);
    case 'github':
      return first;
    default:
      return rest === '' ? key : rest;
  }
}

/**
 * A key as a Firestore document id. Injective; characters allowed in an id stay readable.
 *
 * @throws CairnError INVALID_INPUT if the key is empty, not well-formed, or longer than 1,500 bytes in this form
 */
export function encodeKey(key: string): string {
  if (key.length <= MAX_DOCUMENT_ID_BYTES && PLAIN_KEY.test(key)) return key;
  if (key === '') refuse('idempotency key', 'is empty');
  if (!key.isWellFormed()) refuse('idempotency key', 'is not well-formed text');
  const encoded = avoidReserved(encodeURIComponent(key).replaceAll('%3A', ':'));
  if (encoded.length > MAX_DOCUMENT_ID_BYTES) {
    refuse(
      'idempotency key',
      `has ${encoded.length} bytes as a document id; the maximum is ${MAX_DOCUMENT_ID_BYTES}`,
    );
  }
  return encoded;
}

/** Keys that are valid document ids unchanged: no character needs encoding, and the first one rules out reserved ids. */
const PLAIN_KEY = /^[A-Za-z0-9][A-Za-z0-9:_.-]*$/;

/** The headers an API caller may use, the most specific first. */
const IDEMPOTENCY_HEADERS = ['X-Idempotency-Key', 'Idempotency-Key', 'X-Request-ID'] as const;

/**
 * The caller's own key, from the first header that is there. Bare (`abc`) or as a structured-field string (`"abc"`, RFC 8941);
 * both are the same key.
 *
 * @param get value of a header, whatever the case of its name
 * @throws CairnError INVALID_INPUT naming the header if its value is not a key
 */
export function readApiIdempotencyHeader(get: (name: string) => string | undefined): string | undefined {
  for (const header of IDEMPOTENCY_HEADERS) {
    const value = get(header);
    if (value !== undefined) return part(header, unquote(header, value.trim()), 'with colons');
  }
  return undefined;
}

function unquote(header: string, value: string): string {
  if (!value.startsWith('"')) return value;
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(value)?.[1];
  if (quoted === undefined) return refuse(header, 'is not a well-formed quoted string');
  return quoted.replace(/\\(["\\])/g, '$1');
}

function part(field: string, value: string, kind: 'plain' | 'with colons'): string {
  if (value === '') refuse(field, 'is empty');
  if (value.length > MAX_KEY_PART) refuse(field, `is longer than ${MAX_KEY_PART} characters`);
  if (!/^[\x21-\x7e]+$/.test(value)) refuse(field, 'must contain only visible ASCII characters');
  if (kind === 'plain' && value.includes(':')) refuse(field, 'must not contain a colon');
  return value;
}

function isoOf(slotMs: number): string {
  const slot = new Date(slotMs);
  // After the year 9999 the text has a sign and more digits, so its fixed positions would be wrong.
  const fits = !Number.isNaN(slot.getTime()) && slot.getUTCFullYear() >= 0 && slot.getUTCFullYear() <= 9_999;
  return fits ? slot.toISOString() : refuse('slot', 'is not a time');
}

/** Firestore reserves `.`, `..` and `__…__`. The encoded percent sign makes the result different from that of every other key. */
function avoidReserved(encoded: string): string {
  if (encoded === '.' || encoded === '..') return encoded.replaceAll('.', '%2E');
  return /^__.*__$/.test(encoded) ? `%5F${encoded.slice(1)}` : encoded;
}

function refuse(field: string, problem: string): never {
  throw invalidInput(field, `${field} ${problem}`);
}
