import t from 'tap';
import { systemErrorCode } from '../../../../lib/base/errors/system-error-code.ts';

t.test('the code of what was thrown', async (t) => {
  t.equal(systemErrorCode(Object.assign(new Error(), { code: 'ENOENT' })), 'ENOENT');
  for (const thrown of [new Error('ENOENT'), { code: 'ENOENT' }, 'ENOENT', undefined]) {
    t.equal(systemErrorCode(thrown), undefined);
  }
});
