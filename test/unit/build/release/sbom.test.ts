import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import t from 'tap';
import { sbomOf } from '../../../../build/release/sbom.ts';

const component = (name: string, license = 'MIT') => ({
  name,
  version: '1.2.3',
  license,
  text: '',
});
const shipped = {
  version: '9.8.7',
  arch: 'x64',
  components: [component('node'), component('@grpc/grpc-js', 'Apache-2.0'), component('zod')],
  executables: { 'bin/sno': 'a'.repeat(64) },
};

t.test('the bill of materials is CycloneDX and lists what is shipped', async (t) => {
  const text = sbomOf(shipped);
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  t.equal(await validator.validate(text), null, 'by its schema');
  const bom = JSON.parse(text);
  t.match(bom.metadata.component, { name: 'sno-agents', version: '9.8.7' });
  const named = bom.components.map(
    ({ purl, name }: { purl?: string; name: string }) => purl ?? name,
  );
  t.strictSame(named.toSorted(), [
    'bin/sno',
    'pkg:generic/node@1.2.3',
    'pkg:npm/%40grpc/grpc-js@1.2.3',
    'pkg:npm/zod@1.2.3',
  ]);
  t.match(text, 'a'.repeat(64));
  t.equal(sbomOf(shipped), text, 'the same input, the same bytes');
});
