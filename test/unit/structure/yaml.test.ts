import t from 'tap';
import { importsOf, sourcesIn } from './source.ts';

/** Who may use the package of YAML 1.2, and for which files, none of which Go reads as it writes them. */
const YAML_1_2: Readonly<Record<string, string>> = {
  'cli/payload/fill.ts': 'payload.yaml',
  'cli/payload/fetch/lock.ts': 'payload.lock.yaml',
  'lib/payload/payload.ts': 'payload.yaml',
  'cli/site/template.ts': 'site-config.yaml with its comments',
  'lib/config/file/document.ts': 'configuration files of people, each fault with its line',
  'lib/config/file/tree.ts': 'configuration files of people, each fault with its line',
  'lib/config/file/syntax-fault.ts': 'configuration files of people, where a quote is open',
  'lib/cluster/workers/entry.ts': 'entries for workers, written by people',
  'lib/config/site/nmstate/text.ts': 'nmstate, which Rust reads',
  'cli/wait-for/own-kubeconfig.ts':
    'keeps the comments of a kubeconfig, and asks lib/base/go-yaml what it says then',
  'lab/bare/units.ts': 'reads what the lab writes',
  'lab/install-config.ts': 'install-config.yaml for sno',
  'lab/relocate/volume.ts': 'site-config.yaml',
  'lab/servers/relocate.ts': 'reads what the lab writes',
  'lab/openshift/tree-differences.ts': 'compares texts',
};

const sources = sourcesIn('{agents,report,lib,cli,units,build,bench,lab}/**/*.ts');
const importing = (name: string) =>
  sources.filter((file) => importsOf(file).some(({ target }) => target === name));

t.test('YAML that Go reads is read and written by lib/base/go-yaml alone', async (t) => {
  const others = importing('yaml').filter((file) => !(file in YAML_1_2));
  t.strictSame(others, [], 'uses another parser or writer');
  const parsers = importing('js-yaml').filter((file) => !file.startsWith('lib/base/go-yaml/'));
  t.strictSame(parsers, [], 'has rules of its own for what js-yaml reads');
  for (const [file, why] of Object.entries(YAML_1_2)) {
    t.ok(importing('yaml').includes(file), `${file} still uses it: ${why}`);
  }
});
