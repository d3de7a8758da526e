/** Events as the API shows them: times as ISO text, kept JSON text as the value itself. Types only. */
import type { EventData, EventType } from '../../../functions/src/core/run/events.ts';

type IsTime<K> = K extends `${string}At` | 'at' | 'until' ? true : false;

export type Seen<T> = T extends readonly (infer I)[]
  ? readonly Seen<I>[]
  : T extends object
    ? {
        readonly [K in keyof T as K extends `${infer Name}Text` ? Name : K]: K extends `${string}Text`
          ? unknown
          : IsTime<K> extends true
            ? string
            : Seen<T[K]>;
      }
    : T;

export type SeenData<T extends EventType> = Seen<EventData[T]>;
