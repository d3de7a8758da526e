/** A mailbox within its limits fits into a document. */
import { expect, test } from '@jest/globals';
import {
  MAX_BUFFERED,
  MAX_BUFFERED_BYTES,
  MAX_NAMED_RUNS,
  MAX_REMEMBERED,
} from '../../../packages/cairn/src/core/mailbox/limits.ts';
import type { Mailbox } from '../../../packages/cairn/src/core/mailbox/mailbox.ts';
import { addWait } from '../../../packages/cairn/src/core/mailbox/membership.ts';
import { MAX_BYTES, sizeOfMailbox } from '../../support/document-sizes.ts';
import { seededRandomness } from '../../support/world.ts';

const NOW = Date.UTC(2026, 0, 1);
const ADDRESS = { tenantId: 't'.repeat(100), event: '\u20ac'.repeat(100), key: '\u20ac'.repeat(500) };
/** The longest of each, in bytes. */
const LONGEST = { waitId: 180, eventId: 530, actor: 200 };
const runIds = Array.from({ length: MAX_NAMED_RUNS }, () => `run_${'a'.repeat(26)}`);

/** A mailbox with the maximum of waits and of everything else. */
function full({ waitId, eventId, actor }: typeof LONGEST): Mailbox {
  const [runId = ''] = runIds;
  const id = (n: number, length: number) => String(n).padEnd(length, 'x');
  const buffered = Array.from({ length: MAX_BUFFERED }, (_, n) => ({
    eventId: id(n, eventId),
    dataText: 'x'.repeat(Math.floor(MAX_BUFFERED_BYTES / MAX_BUFFERED)),
    actor: 'x'.repeat(actor),
    at: NOW,
    expiresAt: NOW + 1,
    takenBy: { runId, waitId: id(n, waitId) },
    passing: 'sender' as const,
    deliveredTo: runIds,
  }));
  const delivered = Array.from({ length: MAX_REMEMBERED }, (_, n) => ({
    eventId: id(n, eventId),
    at: NOW,
    deliveredTo: runIds,
  }));
  let mailbox: Mailbox = { ...ADDRESS, waiting: [], buffered, delivered };
  for (let n = MAX_BUFFERED; ; n += 1)
    try {
      const wait = { runId, waitId: id(n, waitId), now: NOW, accepts: () => false };
      mailbox = addWait(mailbox, ADDRESS, wait).next ?? mailbox;
    } catch (error) {
      expect(error).toMatchObject({ code: 'RATE_LIMITED' });
      return mailbox;
    }
}

test('a mailbox that is full in every way fits, also with the longest ids', () => {
  const { unit } = seededRandomness(1);
  const upTo = (most: number) => 5 + Math.floor(unit() * (most - 4));
  const drawn = Array.from({ length: 8 }, () => ({
    waitId: upTo(LONGEST.waitId),
    eventId: upTo(LONGEST.eventId),
    actor: upTo(LONGEST.actor),
  }));
  for (const lengths of [LONGEST, ...drawn]) {
    const mailbox = full(lengths);
    expect(mailbox.waiting.length).toBeGreaterThanOrEqual(1_000);
    expect(sizeOfMailbox(mailbox)).toBeLessThan(MAX_BYTES);
  }
});
