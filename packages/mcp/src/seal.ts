/**
 * Tokens of previews: the shown arguments and state, and the time. Pure except for the nonce.
 *
 * A token is stateless, so any instance can check it, and keyed, so that an agent cannot make one for a preview it has not
 * seen. Its nonce is the idempotency key of the act: one token acts at most once.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Far less than the day for which the API keeps an idempotency key, so a token never outlives its key. */
export const TOKEN_LIFE_MS = 15 * 60_000;
const NONCE_BYTES = 12;
const MAC_BYTES = 16;

/** Content of a preview. */
interface SealedPreview {
  readonly action: string;
  readonly args: unknown;
  readonly state: unknown;
}

interface Sealing {
  readonly secret: string | Uint8Array;
  /** Epoch ms. */
  readonly now: number;
}

interface Seal {
  readonly token: string;
  /** Epoch ms. */
  readonly expiresAt: number;
}

export type SealProblem = 'malformed' | 'expired' | 'other_arguments' | 'other_state';

export function seal(seen: SealedPreview, { secret, now }: Sealing): Seal {
  const head = `${now.toString(36)}.${randomBytes(NONCE_BYTES).toString('hex')}`;
  return {
    token: [head, macOf(secret, [head, seen.action, seen.args]), macOf(secret, [head, seen.state])].join('.'),
    expiresAt: now + TOKEN_LIFE_MS,
  };
}

/** Checks what needs no new read of the state. Undefined if the token and arguments are valid. */
export function argumentProblem(
  token: string,
  { action, args }: Omit<SealedPreview, 'state'>,
  { secret, now }: Sealing,
): SealProblem | undefined {
  const parts = partsOf(token);
  if (parts === undefined) return 'malformed';
  const { head, at, ofArguments } = parts;
  if (!isSame(ofArguments, macOf(secret, [head, action, args]))) return 'other_arguments';
  return now >= at + TOKEN_LIFE_MS ? 'expired' : undefined;
}

/** Undefined if the state is unchanged since the preview. */
export function stateProblem(
  token: string,
  state: unknown,
  secret: string | Uint8Array,
): SealProblem | undefined {
  const parts = partsOf(token);
  if (parts === undefined) return 'malformed';
  return isSame(parts.ofState, macOf(secret, [parts.head, state])) ? undefined : 'other_state';
}

/** Idempotency key of the act that the token allows. */
export function keyOf(token: string): string {
  return `mcp-${partsOf(token)?.nonce}`;
}

const TOKEN =
  /^(?<head>(?<at>[0-9a-z]{1,11})\.(?<nonce>[0-9a-f]{24}))\.(?<ofArguments>[0-9a-f]{32})\.(?<ofState>[0-9a-f]{32})$/;

function partsOf(token: string) {
  const { head = '', at = '', nonce = '', ofArguments = '', ofState = '' } = TOKEN.exec(token)?.groups ?? {};
  return head === '' ? undefined : { head, at: Number.parseInt(at, 36), nonce, ofArguments, ofState };
}

function macOf(secret: string | Uint8Array, value: unknown): string {
  const mac = createHmac('sha256', secret).update(stableJson(value)).digest();
  return mac.subarray(0, MAC_BYTES).toString('hex');
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** Does not depend on the order of members, because an agent may change it. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
