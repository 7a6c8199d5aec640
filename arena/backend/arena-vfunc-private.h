/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/* How the checked wrappers call what a class, in whatever language, has put into an interface. A slot may be empty, and
 * an exception that a binding can't turn into a GError arrives as FALSE or NULL with no error set. */

/* NOT_SUPPORTED, naming the class and @method. */
void     arena_vfunc_set_missing (gpointer      self,
                                  const char   *method,
                                  GError      **error);
/* Ends a call that returned @success and @local_error (taken over). Either alone is believed where it says that the
 * call failed; without an error, BACKEND names the class and @method. */
gboolean arena_vfunc_end         (gpointer      self,
                                  const char   *method,
                                  gboolean      success,
                                  GError       *local_error,
                                  GError      **error);
/* BACKEND: @method of this class returned something it must not, as @what says. */
void     arena_vfunc_set_broken  (gpointer      self,
                                  const char   *method,
                                  const char   *what,
                                  GError      **error);

G_END_DECLS
