/**
 * Types of event data by event type, as the API returns it (see `core/run/readable.ts`). The schema leaves the data open,
 * because event types are added, so clients need these types.
 */
import type { EventData, EventType } from '../../core/run/events.ts';

type IsTime<K> = K extends `${string}At` | 'at' | 'until' ? true : false;

/** Times become ISO text; JSON text becomes the value. */
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
