import t from 'tap';
import { isPlaceholder } from '../../../lib/host/placeholders.ts';

const PLACEHOLDERS = [
  '',
  'None',
  'n/a',
  'Default string',
  '$(DEFAULT_STRING)',
  'To Be Filled By O.E.M.',
  'to be filled by O.E.M. ',
  'System Serial Number',
  'Type2 - Board Serial Number',
  'Chassis Serial Number',
  'Not Specified',
  'NOT AVAILABLE',
  'INVALID',
  'Unknow',
  'OEM',
  'xxxxxxxxxxxx',
  '............',
  '0',
  '00000000',
  '0123456789',
  '123456789',
  '0123456789ABCDEF',
  'MB-1234567890',
  'SSN12345678901234567',
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  'fefefefe-fefe-fefe-fefe-fefefefefefe',
  '03000200-0400-0500-0006-000700080009',
  '00020003-0004-0005-0006-000700080009',
  '12345678-1234-5678-90AB-CDDEEFAABBCC',
  '00010203-0405-0607-0809-0a0b0c0d0e0f',
  '00112233-4455-6677-8899-aabbccddeeff',
  '01234567-89ab-cdef-0123-456789abcdef',
  '11111111-2222-3333-4444-555555555555',
  '00000000-0000-0000-0000-000000000001',
];

const REAL = [
  'CZ1234ABCD',
  'SN-1',
  'SN-0042',
  'A',
  '5XQ7M52',
  'J5007Y',
  'PF2ABCDE',
  '1234-5678-9012-3456-7890-1234-56',
  'VMware-56 4d 8b 5e 62 7e a4 3c-9c 4e 2f 5c 8b 1f 3d 7a',
  'R90ABCDE',
  '205412345678',
  'Nonesuch1',
  '4c4c4544-0042-3510-8052-b4c04f4d5a31',
  '00000000-0000-0000-0000-7085c2a1b2c3',
  '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
];

t.test(
  'what vendors leave in place of a serial number or a UUID identifies no machine',
  async (t) => {
    for (const text of PLACEHOLDERS) t.equal(isPlaceholder(text), true, text || 'empty');
  },
);

t.test('what a machine alone has, identifies it', async (t) => {
  for (const text of REAL) t.equal(isPlaceholder(text), false, text);
});
