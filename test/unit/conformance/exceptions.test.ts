import t from 'tap';
import { exceptions } from '../../../lab/conformance/exceptions.ts';
import { read } from '../docs/documents.ts';

/** The rows of the page's table of exceptions: the test's name and the reason. */
function documented(): { test: string; reason: string }[] {
  const [, section = ''] = read('docs/conformance.md').split('## Exceptions');
  return Array.from(
    section.matchAll(/^\| `(.+?)` \| (.+?) \|$/gm),
    ([, test = '', reason = '']) => {
      return { test, reason };
    },
  );
}

t.test(
  'docs/conformance.md lists exactly the exceptions of the run, with the reasons',
  async (t) => {
    t.strictSame(documented(), exceptions);
  },
);

t.test('every exception is a conformance test, named in full', async (t) => {
  for (const { test } of exceptions)
    t.match(test, /^\[sig-[a-z-]+\] .* \[Conformance\]( \[(Serial|NodeConformance)\])?$/, test);
});
