/**
 * Reads one delivery in a fixed order (limits, headers, signature, payload), so that nothing unsigned is parsed. Owns the
 * refusals; decides nothing about runs.
 */
import { CairnError, invalidInput } from '../../core/errors.ts';
import { decode, type JsonObject, mediaType, parseObject, readBytes } from '../../http/body.ts';
import { isHmacOf } from '../secrets.ts';

/** GitHub's limit of a payload. */
export const MAX_DELIVERY_BYTES = 25 * 1024 * 1024;

export interface GithubDelivery {
  /** `X-GitHub-Delivery`: the same for all redeliveries. */
  readonly id: string;
  /** `X-GitHub-Event`. */
  readonly event: string;
  readonly action: string | undefined;
  readonly payload: JsonObject;
}

/** @throws CairnError for requests that GitHub does not send */
export async function readDelivery(request: Request, secrets: readonly string[]): Promise<GithubDelivery> {
  const bytes = await readBytes(request, MAX_DELIVERY_BYTES);
  const event = requiredHeader(request, 'X-GitHub-Event', /^[a-z0-9_]{1,64}$/);
  const id = requiredHeader(request, 'X-GitHub-Delivery', /^[A-Za-z0-9-]{1,100}$/);
  const signature = request.headers.get('x-hub-signature-256');
  if (signature === null || !isSigned(bytes, signature, secrets)) {
    throw new CairnError('UNAUTHENTICATED', 'the signature is missing or does not match the body', {
      field: 'X-Hub-Signature-256',
      help: 'Check that the webhook and this service have the same secret.',
    });
  }
  const payload = parseObject(payloadText(mediaType(request), decode(bytes)));
  return { id, event, action: typeof payload.action === 'string' ? payload.action : undefined, payload };
}

function requiredHeader(request: Request, name: string, form: RegExp): string {
  const value = request.headers.get(name);
  if (value !== null && form.test(value)) return value;
  throw invalidInput(name, `the header ${name} is ${value === null ? 'missing' : 'malformed'}`);
}

/** GitHub sends JSON or a form, depending on the webhook's settings. */
function payloadText(type: string, body: string): string {
  if (type === 'application/json') return body;
  if (type !== 'application/x-www-form-urlencoded') {
    throw new CairnError('UNSUPPORTED_MEDIA_TYPE', 'the content type is not supported', {
      field: 'Content-Type',
      help: 'Set the content type of the webhook to application/json.',
    });
  }
  const payload = new URLSearchParams(body).get('payload');
  if (payload === null) throw invalidInput('payload', 'the form has no payload');
  return payload;
}

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

/** True if one of the secrets made the signature (`sha256=` and the HMAC in hex) over exactly these bytes. */
export function isSigned(body: Uint8Array, signature: string, secrets: readonly string[]): boolean {
  const [, digits] = SIGNATURE.exec(signature) ?? [];
  // GitHub never sends a delivery without a body.
  return digits !== undefined && body.length > 0 && isHmacOf([body], digits, secrets);
}
