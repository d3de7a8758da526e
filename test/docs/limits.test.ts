import { expect, test } from '@jest/globals';
import { MAX_LIMIT } from '../../packages/cairn/src/api/parameters.ts';
import { MAX_EVENT_BODY_BYTES } from '../../packages/cairn/src/api/routes/deliver-event.ts';
import { MAX_KEY_PART } from '../../packages/cairn/src/core/encoding/idempotency-keys.ts';
import { MAX_EVENT_KEY_CHARS, MAX_EVENT_NAME_CHARS } from '../../packages/cairn/src/core/mailbox/limits.ts';
import { MAX_PAYLOAD_BYTES } from '../../packages/cairn/src/core/run/limits.ts';
import * as head from '../../packages/cairn/src/http/head-limits.ts';
import { MAX_BODY_DEPTH, MAX_BODY_VALUES } from '../../packages/cairn/src/http/json-shape.ts';
import { MAX_EARLY_SIGNAL_BYTES } from '../../packages/cairn/src/operations/events/signal-run.ts';
import { MAX_DELIVERY_BYTES } from '../../packages/cairn/src/triggers/github/delivery.ts';
import { MAX_REQUEST_BYTES } from '../../packages/cairn/src/triggers/slack/signed-form.ts';
import { readDocument } from './snippets.ts';

const KIB = 1024;
const MIB = KIB * KIB;
const LINES = readDocument('docs/limits.md').split('\n');

test.each([
  ['| path and query |', `${head.MAX_URL_CHARS.toLocaleString('en')} characters`],
  ['| one header, with its name |', `${head.MAX_HEADER_BYTES / KIB} KiB`],
  ['| number of headers |', `${head.MAX_HEADERS}`],
  ['| all headers |', `${head.MAX_HEADERS_BYTES / KIB} KiB`],
  ['| nesting of JSON |', `${MAX_BODY_DEPTH} levels`],
  ['| values in a JSON body', MAX_BODY_VALUES.toLocaleString('en')],
  ['| `POST /v1/runs` |', `${MAX_PAYLOAD_BYTES / MIB} MiB`],
  ['| `POST /v1/events`', `${MAX_EVENT_BODY_BYTES / KIB} KiB`],
  ['| `POST /v1/events`', `${MAX_EARLY_SIGNAL_BYTES / KIB} KiB for a signal`],
  ["| GitHub's webhook |", `${MAX_DELIVERY_BYTES / MIB} MiB`],
  ["| Slack's webhook |", `${MAX_REQUEST_BYTES / MIB} MiB`],
  ['| idempotency key |', `1 to ${MAX_KEY_PART} visible`],
  ['| `limit`, `cursor` |', `1 to ${MAX_LIMIT}`],
  ['| event name and key |', `1 to ${MAX_EVENT_NAME_CHARS} and 1 to ${MAX_EVENT_KEY_CHARS}`],
])('%s says %s, as the code does', (begin, says) => {
  const line = LINES.find((one) => one.startsWith(begin));
  expect(line).toContain(says);
});
