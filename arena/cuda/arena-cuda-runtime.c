/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-runtime-private.h"

#include "memory/arena-fork-private.h"

#include <dlfcn.h>
#include <gmodule.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>

/* The first library that can be used is kept for the life of the process, since whoever shares it may have initialised it;
 * one that can't be is closed again, which is harmless before it is initialised. A failure is not kept.
 *
 * Another user of CUDA in this process must get the same instance, or there would be two current devices and two last
 * errors: so one that is loaded already comes before any that would have to be found. */

static const char *const sonames[] = { "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0" };

static const struct
{
  const char *name;
  gsize       offset;
  gboolean    optional;
} symbols[] = {
#define MANDATORY(name, result, parameters) { #name, G_STRUCT_OFFSET (ArenaCudaApi, name), FALSE },
#define OPTIONAL(name, result, parameters) { #name, G_STRUCT_OFFSET (ArenaCudaApi, name), TRUE },
  ARENA_CUDA_MANDATORY (MANDATORY)
  ARENA_CUDA_OPTIONAL (OPTIONAL)
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* over opening */
static _Atomic (ArenaCudaRuntime *) opened;
static _Atomic guint initialised; /* fork generation of the process that did; 0: nobody yet */

const char *
arena_cuda_runtime_get_override (gboolean secure)
{
  const char *path = secure ? NULL : g_getenv ("ARENA_CUDART");

  return path != NULL && *path != '\0' ? path : NULL;
}

static gboolean
take_symbols (GModule       *module,
              ArenaCudaApi  *api,
              GError       **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (symbols); i++)
    {
      gpointer symbol = NULL;

      if (!g_module_symbol (module, symbols[i].name, &symbol) && !symbols[i].optional)
        {
          g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNAVAILABLE,
                       "%s has no %s; %s", g_module_name (module), symbols[i].name,
                       arena_cuda_error_get_advice (ARENA_CUDA_ERROR_UNAVAILABLE));
          return FALSE;
        }

      memcpy ((guint8 *) api + symbols[i].offset, &symbol, sizeof symbol);
    }

  return TRUE;
}

static void
set_driver_error (ArenaCudaRuntime *self,
                  const char       *what,
                  GError          **error)
{
  g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_DRIVER,
               "%s (version %d.%d) %s; %s", self->path, self->version / 1000, self->version % 1000 / 10, what,
               arena_cuda_error_get_advice (ARENA_CUDA_ERROR_NO_DRIVER));
}

/* These two calls succeed without a driver and initialise nothing. A runtime works with every driver of its major version
 * and later ones. */
static gboolean
check_versions (ArenaCudaRuntime  *self,
                GError           **error)
{
  g_autofree char *what = NULL;
  int status = self->api.cudaRuntimeGetVersion (&self->version);

  if (status == ARENA_CUDA_STATUS_SUCCESS)
    status = self->api.cudaDriverGetVersion (&self->driver_version);

  if (status != ARENA_CUDA_STATUS_SUCCESS)
    what = g_strdup_printf ("says %s (%d): %s", self->api.cudaGetErrorName (status), status,
                            self->api.cudaGetErrorString (status));
  else if (self->driver_version == 0)
    what = g_strdup ("finds no NVIDIA driver");
  else if (self->driver_version / 1000 < self->version / 1000)
    what = g_strdup_printf ("is too new for the driver, which is for %d.%d", self->driver_version / 1000,
                            self->driver_version % 1000 / 10);
  if (what == NULL)
    return TRUE;

  set_driver_error (self, what, error);
  return FALSE;
}

static gboolean
fill_runtime (ArenaCudaRuntime  *self,
              GModule           *module,
              GError           **error)
{
  self->path = g_module_name (module);
  return take_symbols (module, &self->api, error) && check_versions (self, error);
}

/* Where the loader found it. */
static char *
dup_path (const ArenaCudaRuntime *self,
          GModule                *module)
{
  Dl_info info = { 0 };

  dladdr ((gpointer) self->api.cudaGetLastError, &info);
  return g_strdup (info.dli_fname != NULL ? info.dli_fname : g_module_name (module));
}

static ArenaCudaRuntime *
open_library (const char  *name,
              GError     **error)
{
  ArenaCudaRuntime *self;
  GModule *module = g_module_open (name, G_MODULE_BIND_LOCAL | G_MODULE_BIND_LAZY);

  if (module == NULL)
    {
      g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNAVAILABLE,
                   "%s; %s", g_module_error (), arena_cuda_error_get_advice (ARENA_CUDA_ERROR_UNAVAILABLE));
      return NULL;
    }

  self = g_new0 (ArenaCudaRuntime, 1);
  if (fill_runtime (self, module, error))
    {
      g_module_make_resident (module);
      self->path = dup_path (self, module);
      return self;
    }

  g_module_close (module);
  g_free (self);
  return NULL;
}

/* Its file may have any name, as long as the library says one of ours itself. */
static void
add_loaded_soname (GPtrArray  *paths,
                   const char *soname)
{
  gpointer handle = dlopen (soname, RTLD_LAZY | RTLD_NOLOAD);
  struct link_map *map = NULL;

  if (handle == NULL)
    return;

  if (dlinfo (handle, RTLD_DI_LINKMAP, &map) == 0)
    g_ptr_array_add (paths, g_strdup (map->l_name));
  dlclose (handle);
}

/* Some vendors change what the library says of itself, but hardly the name of the file. */
static int
add_loaded_file (struct dl_phdr_info *info,
                 gsize                size,
                 gpointer             paths)
{
  const char *name = strrchr (info->dlpi_name, '/');

  if (name != NULL && g_str_has_prefix (name + 1, "libcudart"))
    g_ptr_array_add (paths, g_strdup (info->dlpi_name));
  return 0;
}

static GPtrArray *
list_candidates (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < G_N_ELEMENTS (sonames); i++)
    add_loaded_soname (names, sonames[i]);
  dl_iterate_phdr (add_loaded_file, names);
  for (guint i = 0; i < G_N_ELEMENTS (sonames); i++)
    g_ptr_array_add (names, g_strdup (sonames[i]));
  return names;
}

/* The first error that says more than that there is no such file, else the first. */
static void
keep_error (GError **best,
            GError  *error)
{
  if (*best == NULL || ((*best)->code == ARENA_CUDA_ERROR_UNAVAILABLE && error->code != ARENA_CUDA_ERROR_UNAVAILABLE))
    {
      g_clear_error (best);
      *best = error;
    }
  else
    g_error_free (error);
}

static ArenaCudaRuntime *
find_library (GError **error)
{
  g_autoptr(GPtrArray) candidates = list_candidates ();
  GError *best = NULL;

  for (guint i = 0; i < candidates->len; i++)
    {
      GError *local_error = NULL;
      ArenaCudaRuntime *self = open_library (g_ptr_array_index (candidates, i), &local_error);

      if (self != NULL)
        {
          g_clear_error (&best);
          return self;
        }
      keep_error (&best, local_error);
    }

  g_propagate_error (error, best);
  return NULL;
}

const ArenaCudaRuntime *
arena_cuda_runtime_open (GError **error)
{
  ArenaCudaRuntime *self = atomic_load_explicit (&opened, memory_order_acquire);
  const char *override;

  if (self != NULL)
    return self;

  pthread_mutex_lock (&mutex);
  self = atomic_load_explicit (&opened, memory_order_relaxed);
  if (self == NULL)
    {
      override = arena_cuda_runtime_get_override (getauxval (AT_SECURE) != 0);
      self = override != NULL ? open_library (override, error) : find_library (error);
      atomic_store_explicit (&opened, self, memory_order_release);
    }
  pthread_mutex_unlock (&mutex);
  return self;
}

gboolean
arena_cuda_runtime_check_fork (GError **error)
{
  guint generation = atomic_load_explicit (&initialised, memory_order_acquire);

  if (G_LIKELY (generation == 0 || arena_fork_is_current (generation)))
    return TRUE;

  g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_FORKED,
               "This process was forked from one that had initialised CUDA; %s",
               arena_cuda_error_get_advice (ARENA_CUDA_ERROR_FORKED));
  return FALSE;
}

static void
set_count_error (const ArenaCudaRuntime *self,
                 int                     status,
                 GError                **error)
{
  ArenaCudaError code = arena_cuda_error_from_status (status, ARENA_CUDA_ERROR_NO_DEVICE);

  g_set_error (error, ARENA_CUDA_ERROR, (int) code,
               "cudaGetDeviceCount: %s (%d): %s; %s", self->api.cudaGetErrorName (status), status,
               self->api.cudaGetErrorString (status), arena_cuda_error_get_advice (code));
}

gboolean
arena_cuda_runtime_count_devices (const ArenaCudaRuntime  *self,
                                  int                     *count,
                                  GError                 **error)
{
  guint nobody = 0;
  gboolean foreign;
  int status;

  if (!arena_cuda_runtime_check_fork (error))
    return FALSE;

  *count = 0;
  foreign = self->api.cudaPeekAtLastError () != ARENA_CUDA_STATUS_SUCCESS;
  atomic_compare_exchange_strong_explicit (&initialised, &nobody, arena_fork_generation (),
                                           memory_order_acq_rel, memory_order_relaxed);
  status = self->api.cudaGetDeviceCount (count);
  if (status == ARENA_CUDA_STATUS_SUCCESS && *count < 1)
    status = ARENA_CUDA_STATUS_NO_DEVICE;
  if (status == ARENA_CUDA_STATUS_SUCCESS)
    return TRUE;

  if (!foreign)
    self->api.cudaGetLastError ();
  set_count_error (self, status, error);
  return FALSE;
}
