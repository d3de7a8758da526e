/** The host of a queue's target is one, or it is refused: no task may go elsewhere in silence. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { overriddenUrl, urlOfQueue } from '../../../packages/local-tasks/src/http-target/override.ts';
import { httpTargetFrom } from '../../../packages/local-tasks/src/http-target/wire.ts';

const INVALID_ARGUMENT = 3;

/** Undefined: refused. */
function targetOf(host: string) {
  try {
    return httpTargetFrom({ uriOverride: { host } });
  } catch (error) {
    expect(error).toMatchObject({ code: INVALID_ARGUMENT });
    return undefined;
  }
}

/** Texts of the characters of addresses, which are hosts at times. */
const almost = fc
  .array(fc.constantFrom(...'01299.afxA:-'), { minLength: 1, maxLength: 12 })
  .map((all) => all.join(''));
const anyHost = fc.oneof(
  fc.domain(),
  fc.ipV4(),
  fc.ipV4Extended(),
  fc.ipV6().map((address) => `[${address}]`),
  almost,
  almost.map((text) => `[${text}]`),
);

test('an accepted host is that of the URL of every task', () => {
  fc.assert(
    fc.property(anyHost, (host) => {
      const target = targetOf(host);
      if (!target?.uri) return;
      for (const url of [urlOfQueue(target) ?? '', overriddenUrl('http://own.example/', target.uri)]) {
        const { hostname } = new URL(url);
        if (host.startsWith('[')) expect(hostname).toMatch(/^\[[0-9a-f:]+\]$/);
        else expect(hostname).toBe(host.toLowerCase());
      }
    }),
    { numRuns: 1000 },
  );
});

describe('a host', () => {
  test.each(['999.1.1.1', '[::::]', '1.2', '0x7f', 'a.0x1', '[1]'])('%s is refused', (host) => {
    expect(targetOf(host)).toBeUndefined();
  });

  test.each(['localhost', 'Example.com', 'a-b.example.', '127.0.0.1', '[::1]', '[0:0:0:0:0:FFFF:1.2.3.4]'])(
    '%s is accepted as it is written',
    (host) => {
      expect(targetOf(host)?.uri?.host).toBe(host);
    },
  );
});
