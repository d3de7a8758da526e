/**
 * The data of events as the API shows it, by their type: what `core/run/readable.ts` makes of stored records, as types. For
 * clients, which cannot tell it from the schema: that leaves the data open, as types of events are added.
 */
import type { EventData, EventType } from '../../core/run/events.ts';

type IsTime<K> = K extends `${string}At` | 'at' | 'until' ? true : false;

/** Times as ISO text, kept JSON text as the value itself. */
type Readable<T> = T extends readonly (infer I)[]
  ? readonly Readable<I>[]
  : T extends object
    ? {
        readonly [K in keyof T as K extends `${infer Name}Text` ? Name : K]: K extends `${string}Text`
          ? unknown
          : IsTime<K> extends true
            ? string
            : Readable<T[K]>;
      }
    : T;

export type DataOf<T extends EventType> = Readable<EventData[T]>;
