import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { addFilesArguments } from '../../../cli/iso/add-files.ts';
import { requireIsoPrograms } from '../../../cli/iso/programs.ts';

t.test('every file is mapped by its own name, with fixed owner, date and mode', async (t) => {
  const args = addFilesArguments({
    iso: '/tmp/x.iso',
    folder: '/sno-agents',
    diskGuid: '0'.repeat(32),
    files: [
      { source: '/a/*', path: '/sno-agents/sno-agents', mode: 0o755 },
      { source: '/p/images/etcd.tar', path: '/sno-agents/payload/images/etcd.tar', mode: 0o644 },
    ],
  });
  const line = args.join(' ');
  t.match(line, '-disk_pattern off -iso_rr_pattern off -overwrite off');
  t.match(line, '-map /a/* /sno-agents/sno-agents');
  t.match(line, '-chmod 0755 /sno-agents/sno-agents --');
  t.match(line, '-chmod 0644 /sno-agents/payload/images/etcd.tar --');
  for (const folder of ['/sno-agents', '/sno-agents/payload', '/sno-agents/payload/images']) {
    t.match(line, `-chmod 0755 ${folder} --`);
  }
  t.ok(line.indexOf('-map') < line.indexOf('-alter_date_r'), 'dates after the files are there');
  t.ok(line.indexOf('-overwrite nondir') > line.lastIndexOf('-map'), 'no file is replaced');
});

t.test('all missing programs are named together with their packages', async (t) => {
  const bin = t.testdir();
  await t.rejects(requireIsoPrograms({ PATH: bin }), {
    kind: 'usage',
    message: /xorriso \(the package xorriso\) and coreos-installer \(the package coreos-installer/,
  });
  for (const name of ['xorriso', 'coreos-installer']) {
    writeFileSync(join(bin, name), '');
    chmodSync(join(bin, name), 0o755);
  }
  await t.resolves(requireIsoPrograms({ PATH: `/nowhere:${bin}` }));
});
