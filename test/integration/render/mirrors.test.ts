import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { ensureComponent } from '../../../lab/components/component.ts';
import { missingPrerequisites } from '../../../lab/components/debian-packages.ts';
import { PULL_SOURCES, pullSources } from '../../../lab/components/pull-sources.ts';
import { parseSiteConfig } from '../../../lib/config/site-config/read.ts';
import { mirrorFiles } from '../../../lib/render/machine-config/mirrors.ts';

const lacks = await missingPrerequisites();
const signal = AbortSignal.timeout(12 * 60_000);
const DIGEST = `@sha256:${'a'.repeat(64)}`;

const SITE = `api_version: 1
cluster_name: sno
base_domain: site.test
imageDigestSources:
  - {source: quay.test/both, mirrors: [d.test/both, shared.test/both]}
  - {source: quay.test/release, mirrors: [d.test/release], sourcePolicy: NeverContactSource}
  - {source: below.test, mirrors: [d.test/below]}
imageTagSources:
  - {source: quay.test/both, mirrors: [t.test/both, shared.test/both]}
  - {source: quay.test/tools, mirrors: [t.test/tools]}
  - {source: below.test/tools, mirrors: [t.test/tools]}
`;

/** What is pulled, and the places that are asked for it, in order. */
const PULLS: readonly (readonly [image: string, places: readonly string[]])[] = [
  [`quay.test/both/a${DIGEST}`, ['d.test/both/a', 'shared.test/both/a', 'quay.test/both/a']],
  ['quay.test/both/a:1', ['t.test/both/a', 'shared.test/both/a', 'quay.test/both/a']],
  [`quay.test/release${DIGEST}`, ['d.test/release']],
  ['quay.test/tools/a:1', ['t.test/tools/a', 'quay.test/tools/a']],
  ['below.test/a:1', ['below.test/a']],
  [`below.test/tools/a${DIGEST}`, ['d.test/below/tools/a', 'below.test/tools/a']],
  ['below.test/tools/a:1', ['t.test/tools/a', 'below.test/tools/a']],
];

t.test(
  'CRI-O and podman take mirrors for digests and mirrors for tags as the site says',
  { skip: lacks.length > 0 && lacks.join('; '), timeout: 12 * 60_000 },
  async (t) => {
    const built = await ensureComponent(pullSources, { signal, report: (line) => t.comment(line) });
    const site = parseSiteConfig(SITE, 'site-config.yaml', { files: new Map(), now: new Date() });
    const [conf] = mirrorFiles(site.imageMirrors ?? []);
    const folder = join(t.testdir(), basename(dirname(conf?.path ?? '')));
    await mkdir(folder);
    await writeFile(join(folder, basename(conf?.path ?? '')), conf?.contents ?? '');
    for (const [image, places] of PULLS) {
      const { stdout } = await execa(join(built, PULL_SOURCES), [folder, image], {
        timeout: 60_000,
      });
      const [, reference = ''] = /((?:@|:)[^/]*)$/.exec(image) ?? [];
      t.same(
        stdout.split('\n'),
        places.map((place) => `${place}${reference}`),
        image,
      );
    }
  },
);
