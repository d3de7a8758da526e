/** Details that a person decides about: long texts in readable form, then everything as JSON. */
import { Fragment, useMemo } from 'react';
import { Text } from '../value-text.tsx';
import { JsonView } from './json-view.tsx';
import { longTexts } from './long-texts.ts';
import './json-view.css';

interface DetailsProps {
  readonly value: unknown;
  /** Accessible name of the JSON. */
  readonly label: string;
}

export function Details({ value, label }: DetailsProps) {
  const texts = useMemo(() => longTexts(value), [value]);
  return (
    <>
      {texts.length > 0 && (
        <dl className="long-texts">
          {texts.map(({ path, text }) => (
            <Fragment key={path}>
              <dt>
                <Text value={path} max={120} />
              </dt>
              <dd>
                <Text value={text} />
              </dd>
            </Fragment>
          ))}
        </dl>
      )}
      <JsonView value={value} label={label} />
    </>
  );
}
