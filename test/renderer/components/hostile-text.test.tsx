// @vitest-environment jsdom
import { cleanup, render } from '@testing-library/react';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { LongText } from '../../../renderer/components/long-text.tsx';
import { ModelName, splitName } from '../../../renderer/components/model-name.tsx';
import { StreamText } from '../../../renderer/components/stream-text.tsx';
import { VerdictView } from '../../../renderer/components/verdict-view.tsx';
import { curlOf } from '../../../renderer/format/curl.ts';
import { makeRecord } from '../support/make.ts';

afterEach(cleanup);

const hostile = [
  '<img src=x onerror="document.title=1">',
  '<script>alert(1)</script>',
  '[click](javascript:alert(1)) ![i](http://evil.example/a.png)',
  '</pre><iframe src="http://evil.example">',
  '\u202Egnp.exe \u0000 \u001b[31mred',
  'http://evil.example/?leak=1',
];
const active = 'img,script,iframe,a,object,embed,svg,link,style,form,input';

describe('text of models is text', () => {
  test.each(hostile)('%j', (text) => {
    const { truncation } = makeRecord();
    const { container } = render(
      <>
        <StreamText text={text} label="Answer" open={false} />
        <LongText text={text} label="Raw" />
        <ModelName name={text} />
        <VerdictView
          verdict={{ ...truncation, evidence: [{ confidence: 'likely', source: 'estimate', text, raw: text }] }}
          figures={{ sent: 1, sentExact: true, windowRequested: 1, windowRunning: 1, evaluated: 1 } as never}
          needles={[{ token: text, depthPercent: 0, outcome: 'echoed', said: text }]}
        />
      </>,
    );
    expect(container.querySelectorAll(active)).toHaveLength(0);
    expect(container.querySelector('[aria-label=Answer]')?.textContent).toBe(text);
  });
});

test('a name is never lost in the middle', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (name) => {
      const [head, tail] = splitName(name);
      expect(head + tail).toBe(name);
      expect(tail).not.toMatch(/^[\uDC00-\uDFFF]/u);
    }),
  );
});

test('the tag of a long name stays whole', () => {
  expect(splitName('hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M')).toEqual([
    'hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF',
    ':Q4_K_M',
  ]);
});

test('a long stream draws its end only, and says what is before it', () => {
  const text = `${'a'.repeat(30_000)}THE END`;
  const { container } = render(<StreamText text={text} label="Answer" open />);
  expect(container.textContent?.length).toBeLessThan(7_000);
  expect(container.textContent).toMatch(/24,007 characters before this\n.*THE END$/su);
});

test('a body cannot break out of the copied command', () => {
  const command = curlOf('http://127.0.0.1:11434/', '/api/chat', `{"content":"it's $(rm -rf ~) \`id\`"}`);
  expect(command).toBe(
    `curl -sS 'http://127.0.0.1:11434/api/chat' -H 'Content-Type: application/json' --data-binary '{"content":"it'\\''s $(rm -rf ~) \`id\`"}'`,
  );
});
