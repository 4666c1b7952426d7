import { access, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { z } from 'zod';
import { analyze, reportFiles } from '../../report/report.ts';
import { step } from '../unit/report/rule-case.ts';
import { filesOf, viewOf } from '../unit/report/view.ts';
import { MEASURE, measured, noBrowser, WIDTHS, withPage } from './browser.ts';

const SECTIONS = ['findings', 'timeline', 'first-errors', 'not-collected', 'host'];
/** Where the screenshots are kept. */
const PICTURES = join(import.meta.dirname, '../../lab/out/report');
const skip = noBrowser;
const folder = await mkdtemp(join(tmpdir(), 'report-'));
t.teardown(() => rm(folder, { recursive: true }));

async function unpack(name: string, files: Record<string, string>): Promise<string> {
  const report = analyze(viewOf(files), {
    outcomes: [{ path: 'resources/pods.json', leftOut: 0, failure: 'connect ECONNREFUSED' }],
  });
  const all = { ...files, 'gather.log': '' };
  for (const { path, contents } of reportFiles(report)) Object.assign(all, { [path]: contents });
  for (const [path, contents] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name, path)), { recursive: true });
    await writeFile(join(folder, name, path), contents);
  }
  return join(folder, name);
}

const reportOf = (bundle: string) => join(bundle, 'report.html');

t.test('the report in a browser, wide and on a phone, light and dark', { skip }, async (t) => {
  const bundle = await unpack('broken', filesOf('broken'));
  await mkdir(PICTURES, { recursive: true });
  await withPage(reportOf(bundle), async ({ page, complaints, requests }) => {
    const backgrounds = new Set<string>();
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      for (const [size, width] of Object.entries(WIDTHS)) {
        await page.setViewport({ width, height: 900 });
        const { overflow, verdictEnd, background, sections } = measured.parse(
          await page.evaluate(MEASURE),
        );
        t.equal(overflow, 0, `nothing sticks out at ${width} pixels`);
        t.ok(verdictEnd < 800, `the verdict is in the first screen at ${width} pixels`);
        backgrounds.add(background);
        t.strictSame(Object.keys(sections), SECTIONS);
        for (const [id, { width: across, height }] of Object.entries(sections)) {
          t.ok(across > 300 && height > 40, `${id} is ${across} x ${height} pixels, ${size}`);
        }
        const picture = join(PICTURES, `${scheme}-${size}.png`);
        await page.screenshot({ path: `${PICTURES}/${scheme}-${size}.png`, fullPage: true });
        t.ok((await stat(picture)).size > 50_000, picture);
      }
    }
    t.equal(backgrounds.size, 2, 'dark is another page than light');
    t.match(await page.title(), /^2 things are failing: The file system of \/ is full/);
    t.strictSame(complaints, []);
    t.strictSame(
      requests.filter((url) => !url.startsWith('data:')),
      [pathToFileURL(join(bundle, 'report.html')).href],
    );
  });
});

t.test('each link points to a file of the bundle', { skip }, async (t) => {
  const bundle = await unpack('links', filesOf('broken'));
  await withPage(reportOf(bundle), async ({ page }) => {
    const found = await page.evaluate(`[...document.links].map((link) => link.href)`);
    const links = z.array(z.string()).parse(found);
    const files = links.filter((href) => !href.includes('#'));
    t.ok(files.length > 20);
    for (const href of new Set(files)) {
      await t.resolves(access(new URL(href)), href);
    }
  });
});

t.test('consequences are printed too', { skip }, async (t) => {
  const bundle = await unpack('print', filesOf('broken'));
  await withPage(reportOf(bundle), async ({ page }) => {
    await page.emulateMediaType('print');
    const heights = z
      .array(z.number())
      .parse(
        await page.evaluate(
          `[...document.querySelectorAll('details .evidence')].map((list) => list.getBoundingClientRect().height)`,
        ),
      );
    t.ok(heights.length > 2 && heights.every((height) => height > 10), heights.join(', '));
  });
});

t.test('contents of a hostile bundle remain text', { skip }, async (t) => {
  const evil = `</code></script><img src="https://example.test/x" onerror="alert(1)"><script>alert(2)</script><style>body{display:none}</style>`;
  const bundle = await unpack('evil', {
    'bootstrap/steps/bootkube.jsonl': step('15:00:00', 'etcd', 'failed', `${evil}. Do ${evil}`),
    'bootstrap/os-release.txt': `PRETTY_NAME="${evil}"\n`,
    'bootstrap/journals/x.log': `2026-11-21T15:00:00.1+0000 x[1]: panic: ${evil}\n`,
  });
  await withPage(reportOf(bundle), async ({ page, complaints, requests }) => {
    const found = await page.evaluate(
      `({ scripts: document.scripts.length, images: document.images.length, styles: document.styleSheets.length, text: document.body.innerText })`,
    );
    t.match(found, { scripts: 0, images: 0, styles: 1 });
    t.match(found, { text: /<script>alert\(2\)<\/script>/ });
    t.strictSame(complaints, []);
    t.equal(requests.filter((url) => !url.startsWith('data:')).length, 1);
  });
});
