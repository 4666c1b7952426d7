/** `sno fleet report` of a real API server, as somebody sees it in a real browser. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { failedRows } from '../../lib/clients/kube/apply-table.ts';
import { resourcePath } from '../../lib/clients/kube/resources.ts';
import { API_VERSION } from '../../lib/engine/report/site-status.ts';
import { sno } from '../unit/cli/run-sno.ts';
import { MEASURE, measured, noBrowser, WIDTHS, withPage } from './browser.ts';
import { namespace, root, sites, startHub } from './fleet-hub.ts';

const EVIL = `</p><img src="https://example.test/x" onerror="alert(1)"><script>alert(2)</script>`;
const AT = '2030-01-02T03:04:05Z';
const SECTIONS = ['states', 'failures', 'sites', 'progress'];

const is = (type: string, status: string, reason: string, message = '') => ({
  ...{ type, status, reason, message, lastTransitionTime: AT },
});
const delivered = [is('Rendered', 'True', 'Published'), is('Delivered', 'True', 'person')];
const failed = (code: string, what: string) => ({
  conditions: [...delivered, is('Failed', 'True', code, what)],
  report: {
    ...{ sequence: 1, at: AT, node: 'n', version: '1' },
    changes: [
      { change: 'relocate', state: 'takenBack', at: AT, serial: 1, code, what, fix: 'Plug it in.' },
    ],
  },
});

t.test(
  'the page of a fleet, wide and on a phone, light and dark',
  { skip: noBrowser },
  async (t) => {
    const { folder, admin, kubeconfig, applied, limits } = await startHub(t);
    const files = ['crd', 'worker-access'].map((name) =>
      readFileSync(join(root, `deploy/fleet/${name}.yaml`), 'utf8'),
    );
    t.same(failedRows(await applied('deploy', files.join('\n---\n'))), []);
    const site = async (name: string, status: object) => {
      const body = {
        ...{ apiVersion: API_VERSION, kind: 'Site', metadata: { name, namespace } },
        spec: { action: 'relocate', serial: 1 },
      };
      const made = JSON.stringify(body);
      t.same(failedRows(await applied(name, made)), []);
      await admin.json(
        {
          method: 'PATCH',
          path: resourcePath(sites, { namespace, name, subresource: 'status' }),
          contentType: 'application/merge-patch+json',
          body: { status },
        },
        limits,
      );
    };
    for (let at = 0; at < 30; at += 1)
      await site(`shop-${at}`, failed('site-link', 'no link on eno1'));
    await site('evil', failed('site-check', EVIL));
    await site('done', { conditions: [...delivered, is('Completed', 'True', 'Completed')] });
    const path = join(folder, 'fleet.html');
    const { code, err } = await sno([
      'fleet',
      'report',
      '--html',
      path,
      '--kubeconfig',
      kubeconfig,
    ]);
    t.equal(code, 0, err);
    t.equal(statSync(path).mode & 0o777, 0o600);

    await withPage(path, async ({ page, complaints, requests }) => {
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
        }
      }
      t.equal(backgrounds.size, 2, 'dark is another page than light');
      const found = await page.evaluate(
        `({ title: document.title, scripts: document.scripts.length, images: document.images.length, text: document.body.innerText })`,
      );
      t.match(found, { title: '32 sites in sno-fleet', scripts: 0, images: 0 });
      t.match(found, { text: /31 sites need somebody[\s\S]*no link on eno1[\s\S]*Plug it in/i });
      t.match(found, { text: /<script>alert\(2\)<\/script>/ });
      t.strictSame(complaints, []);
      t.strictSame(
        requests.filter((url) => !url.startsWith('data:')),
        [pathToFileURL(path).href],
      );
    });
  },
);
