/**
 * Reads one request of Slack in a fixed order (limits, signature, form), so that nothing unsigned is parsed. Owns the refusals;
 * does not know the meaning of the fields.
 */
import { CairnError } from '../../core/errors.ts';
import { cut } from '../../core/run/records.ts';
import { decode, mediaType, readBytes } from '../../http/body.ts';
import { isHmacOf } from '../secrets.ts';

/** A press sends the whole message: 50 blocks of 3,000 characters, percent-encoded. */
export const MAX_REQUEST_BYTES = 1024 * 1024;
/** Slack sends about a dozen. */
const MAX_FIELDS = 64;
/** Longest field name shown in an error. Slack's names have up to 20 characters. */
const FIELD_CHARS = 100;

export type Form = ReadonlyMap<string, string>;

interface FormReading {
  readonly secrets: readonly string[];
  /** Epoch ms. */
  readonly now: number;
}

/** @throws CairnError for requests that Slack does not send */
export async function readForm(request: Request, { secrets, now }: FormReading): Promise<Form> {
  const body = await readBytes(request, MAX_REQUEST_BYTES);
  const { headers } = request;
  const signature = headers.get('x-slack-signature');
  const timestamp = headers.get('x-slack-request-timestamp');
  if (!isSigned({ body, signature, timestamp }, secrets, now)) {
    throw new CairnError('UNAUTHENTICATED', 'the signature is missing, too old, or does not match the body', {
      field: 'X-Slack-Signature',
      help: 'Check that this service has the signing secret of the Slack app, and that its clock is right.',
    });
  }
  if (mediaType(request) !== 'application/x-www-form-urlencoded') {
    throw new CairnError(
      'UNSUPPORTED_MEDIA_TYPE',
      'the content type must be application/x-www-form-urlencoded',
      { field: 'Content-Type', help: 'Send application/x-www-form-urlencoded.' },
    );
  }
  return parseForm(decode(body));
}

/**
 * Stricter than a browser's form. Slack never sends a duplicate field or half a surrogate pair, and such a text has no clear
 * meaning.
 *
 * @throws CairnError INVALID_INPUT
 */
export function parseForm(text: string): Form {
  const pairs = text.split('&');
  if (pairs.length > MAX_FIELDS) throw malformed(`the form has more than ${MAX_FIELDS} fields`);
  const form = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at === 0 || pair === '') throw malformed('the form has a field without a name');
    const name = unescaped(at < 0 ? pair : pair.slice(0, at));
    if (at < 0) throw malformed('the form has a field without a value', name);
    if (form.has(name)) throw malformed('the form has a field twice', name);
    form.set(name, unescaped(pair.slice(at + 1), name));
  }
  return form;
}

/** @param field name of the field whose value is decoded; undefined for a name */
function unescaped(text: string, field?: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw malformed('the form is not correctly encoded', field, cause);
  }
}

function malformed(what: string, field?: string, cause?: unknown): CairnError {
  return new CairnError('INVALID_INPUT', what, { field: field && cut(field, FIELD_CHARS), cause });
}

/** Largest difference between Slack's clock and this one. A recorded request that is sent again later is refused. */
export const MAX_SKEW_MS = 5 * 60_000;

const SIGNATURE = /^v0=([0-9a-f]{64})$/;
/** Unix seconds, with at most as many digits as a date can have. */
const TIMESTAMP = /^[0-9]{1,12}$/;

export interface Signed {
  /** The bytes as received. */
  readonly body: Uint8Array;
  /** `X-Slack-Signature`. */
  readonly signature: string | null;
  /** `X-Slack-Request-Timestamp`. */
  readonly timestamp: string | null;
}

/**
 * True if one of the secrets made the signature over exactly these bytes and this time.
 *
 * @param now epoch ms
 */
export function isSigned(
  { body, signature, timestamp }: Signed,
  secrets: readonly string[],
  now: number,
): boolean {
  const [, digits] = SIGNATURE.exec(signature ?? '') ?? [];
  if (digits === undefined || timestamp === null || !TIMESTAMP.test(timestamp)) return false;
  if (Math.abs(now - Number(timestamp) * 1_000) > MAX_SKEW_MS) return false;
  return isHmacOf([`v0:${timestamp}:`, body], digits, secrets);
}
