/** Limits of the bodies of requests over HTTP/1.1. */
import type { BodyRefusals } from '@cairn/local-kit/http/json-body';
import { MAX_REQUEST_BYTES } from '../model/limits.ts';
import { invalid } from '../model/status.ts';

/** JSON is larger than the protobuf encoding (bytes by a third, small numbers by more), whose size is checked afterwards. */
const MAX_BODY_BYTES = 4 * MAX_REQUEST_BYTES;

export const BODY: BodyRefusals = {
  maxBytes: MAX_BODY_BYTES,
  tooLarge: () => invalid(`Request payload size exceeds the limit: ${MAX_BODY_BYTES} bytes.`),
  malformed: (why) => invalid(`Invalid JSON payload received: ${why}`),
};
