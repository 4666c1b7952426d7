/** What a technician sees on a phone after a node has used the stick. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import {
  RESULT_FILES,
  resultFile,
  resultPage,
} from '../../../lib/relocation/site-volume/result.ts';
import { noBrowser as skip, withPage } from '../browser.ts';

const PHONE = { width: 390, height: 800 };
const seen = z.object({
  title: z.string(),
  text: z.string(),
  background: z.string(),
  colour: z.string(),
  /** The verdict, in pixels. */
  size: z.number(),
  overflow: z.number(),
  scripts: z.number(),
});

/** Runs in the page; a string, since this project's types do not include the DOM. */
const LOOK = `({
  title: document.title,
  text: document.body.innerText,
  background: getComputedStyle(document.body).backgroundColor,
  colour: getComputedStyle(document.body).color,
  size: parseFloat(getComputedStyle(document.querySelector('h1')).fontSize),
  overflow: document.documentElement.scrollWidth - innerWidth,
  scripts: document.scripts.length,
})`;

const NODE = {
  ...{ cluster: `shop.${'site'.repeat(30)}`, node: 'till<script>alert(1)</script>' },
  ...{ serial: 7, version: '1.4.0' },
};
const failure = {
  code: 'site-link',
  kind: 'fatal',
  what: `no link on ${'eno'.repeat(40)}<img src=x onerror=alert(1)>`,
  fix: 'Check the cable in eno1, and insert the volume again.',
} as const;

for (const [verdict, failed, [background, first]] of [
  ['PASS', undefined, ['rgb(11, 107, 46)', 'the node has the configuration of its site.']],
  ['FAIL', failure, ['rgb(179, 20, 27)', 'no link on']],
] as const) {
  t.test(`${verdict}, on a phone`, { skip }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'result-'));
    t.teardown(() => rm(folder, { recursive: true }));
    const page = resultPage({ ...NODE, endedAt: '2026-12-03T10:00:00Z', failure: failed });
    const path = join(folder, RESULT_FILES.page);
    // As it is on the stick.
    await writeFile(path, resultFile(RESULT_FILES.page, page).contents);
    await withPage(path, async ({ page, complaints, requests }) => {
      await page.setViewport(PHONE);
      const found = seen.parse(await page.evaluate(LOOK));
      t.match(found, { title: verdict, background, colour: 'rgb(255, 255, 255)', scripts: 0 });
      t.ok(found.size > 40, 'it is read from a distance');
      t.equal(found.overflow, 0, 'nothing sticks out');
      t.ok(found.text.startsWith(`${verdict}\n`), found.text);
      t.match(found.text, first);
      t.match(found.text, 'Node: till<script>alert(1)</script>');
      t.same(complaints, []);
      t.equal(requests.length, 1, 'the page alone');
    });
  });
}
