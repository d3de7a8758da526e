import { expect, test } from '@jest/globals';
import { prometheusText } from '../../../packages/cairn/src/api/routes/metrics/prometheus.ts';

test('a family has its help, its type and a line for each sample', () => {
  const text = prometheusText([
    {
      name: 'things_total',
      type: 'counter',
      help: 'Things.',
      samples: [
        { labels: { kind: 'a', of: 'b' }, value: 3 },
        { labels: {}, value: 0.25 },
        { suffix: '_sum', labels: { le: '+Inf' }, value: 1 },
      ],
    },
    { name: 'none', type: 'gauge', help: 'Nothing yet.', samples: [] },
  ]);
  expect(text).toBe(
    [
      '# HELP things_total Things.',
      '# TYPE things_total counter',
      'things_total{kind="a",of="b"} 3',
      'things_total 0.25',
      'things_total_sum{le="+Inf"} 1',
      '# HELP none Nothing yet.',
      '# TYPE none gauge',
      '',
    ].join('\n'),
  );
});

test('label values and help texts cannot end their line or their quotes', () => {
  const text = prometheusText([
    {
      name: 'x',
      type: 'gauge',
      help: 'a\\b\nc "d"',
      samples: [{ labels: { l: 'say "hi"\\\nx 1' }, value: 1 }],
    },
  ]);
  expect(text).toBe('# HELP x a\\\\b\\nc "d"\n# TYPE x gauge\nx{l="say \\"hi\\"\\\\\\nx 1"} 1\n');
});
