// SPDX-License-Identifier: LGPL-2.1-or-later
void test_version () {
  assert_cmpuint (Arena.get_major_version (), CompareOperator.EQ, Arena.MAJOR_VERSION);
  assert_cmpuint (Arena.get_minor_version (), CompareOperator.EQ, Arena.MINOR_VERSION);
  assert_cmpuint (Arena.get_micro_version (), CompareOperator.EQ, Arena.MICRO_VERSION);
}

void test_error_domain () {
  Error error = new Arena.ArenaError.BUSY ("held");

  assert_true (error is Arena.ArenaError.BUSY);
  assert_true (error.domain == Arena.ArenaError.quark ());
}

int main (string[] args) {
  Test.init (ref args);
  Test.add_func ("/arena/version/run-time-is-compile-time", test_version);
  Test.add_func ("/arena/error/domain", test_error_domain);

  return Test.run ();
}
