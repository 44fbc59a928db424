/** Width and height of an element in whole pixels; a default until it was laid out. */
import { useEffect, useState } from 'react';
import type { RefObject } from 'react';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export function useSize(element: RefObject<HTMLElement | null>, otherwise: Size): Size {
  const [size, setSize] = useState(otherwise);
  useEffect(() => {
    const target = element.current;
    if (target === null) return;
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0);
      const height = Math.floor(entry?.contentRect.height ?? 0);
      if (width <= 0 || height <= 0) return;
      setSize((before) => (before.width === width && before.height === height ? before : { width, height }));
    });
    observer.observe(target);
    return () => {
      observer.disconnect();
    };
  }, [element]);
  return size;
}
