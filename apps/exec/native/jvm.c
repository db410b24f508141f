/* The Java virtual machine in the process of the program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bridge.h"
#include "descriptors.h"
#include "libc_calls.h"
#include "library.h"

/*
 * The few functions of the Java Native Interface that the library calls, by their index in the
 * tables of the specification. With these, no JDK header file is needed.
 */
enum {
	VM_DETACH_CURRENT_THREAD = 5,
	VM_ATTACH_CURRENT_THREAD_AS_DAEMON = 7,

	JNI_FIND_CLASS = 6,
	JNI_EXCEPTION_DESCRIBE = 16,
	JNI_EXCEPTION_CLEAR = 17,
	JNI_NEW_GLOBAL_REF = 21,
	JNI_GET_STATIC_METHOD_ID = 113,
	JNI_CALL_STATIC_INT_METHOD_A = 131,
	JNI_REGISTER_NATIVES = 215,
	JNI_EXCEPTION_CHECK = 228,
};

#define JNI_VERSION_24 0x00180000

/* The number that a macro expands to, as text. */
#define TEXT_OF(number) TEXT(number)
#define TEXT(number) #number

typedef void *const **jni_table;	/* JNIEnv * or JavaVM * */

union jni_value {
	int32_t i;
	int64_t j;
};

struct jni_option {
	char *text;
	void *extra;
};

struct jni_arguments {
	int32_t version;
	int32_t option_count;
	struct jni_option *options;
	uint8_t ignore_unrecognized;
};

struct jni_native_method {
	const char *name;
	const char *signature;
	void *function;
};

/* The function at an index of a table, cast to its type. */
#define JNI(table, index, type) ((type)(*(table))[index])

enum state { NOT_STARTED, RUNNING, FAILED, FORKED };

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static enum state state;
static jni_table vm;
static void *entry_class;
static void *entry_method;

void log_error(const char *sentence, const char *detail)
{
	fprintf(stderr, "rdma4j exec: %s%s\n", sentence, detail);
}

/* Options of the virtual machine. They are never freed, because it may refer to them. */

struct option_list {
	struct jni_option *options;
	int count;
	int capacity;
	int error;
};

static void add_option(struct option_list *list, const char *text, size_t length)
{
	char *copy = strndup(text, length);

	if (list->count == list->capacity) {
		int capacity = list->capacity * 2 + 16;
		struct jni_option *larger = realloc(list->options, capacity * sizeof(*larger));

		if (larger) {
			list->options = larger;
			list->capacity = capacity;
		}
	}
	if (!copy || list->count == list->capacity) {
		free(copy);
		list->error = ENOMEM;
		return;
	}
	list->options[list->count++] = (struct jni_option){ .text = copy };
}

static void add_text(struct option_list *list, const char *text)
{
	add_option(list, text, strlen(text));
}

/* Adds the options in an environment variable, separated by any of the separators. */
static void add_variable(struct option_list *list, const char *variable, const char *separators)
{
	const char *text = getenv(variable);

	if (!text)
		return;
	for (;;) {
		size_t length;

		text += strspn(text, separators);
		length = strcspn(text, separators);
		if (!length)
			return;
		add_option(list, text, length);
		text += length;
	}
}

static void add_modules(struct option_list *list)
{
	const char *modules = getenv("RDMA4J_EXEC_MODULES");
	char *option;

	if (!modules)
		return;
	if (*modules) {
		if (asprintf(&option, "--module-path=%s", modules) < 0) {
			list->error = ENOMEM;
			return;
		}
		add_text(list, option);
		free(option);
	}
	/* If the variable is not set, the class path is used instead. */
	add_text(list, "--add-modules=io.rdma4j.exec,io.rdma4j.soft");
}

/* Java looks up functions of the C library in this library first, and calls what it finds. */
static void add_library(struct option_list *list)
{
	Dl_info here;
	char *option;

	if (!dladdr((void *)add_library, &here) || !here.dli_fname)
		return;
	if (asprintf(&option, "-Drdma4j.system-calls=%s", here.dli_fname) < 0) {
		list->error = ENOMEM;
		return;
	}
	add_text(list, option);
	free(option);
}

static void add_options(struct option_list *list)
{
	/* Leaves SIGHUP, SIGINT, SIGQUIT and SIGTERM to the program. */
	add_text(list, "-Xrs");
	/*
	 * With -Xrs, the virtual machine would create the socket of the attach mechanism in /tmp,
	 * and leave it behind unless the process ends by exit.
	 */
	add_text(list, "-XX:+DisableAttachMechanism");
	/* Standard output belongs to the program. */
	add_text(list, "-XX:+DisplayVMOutputToStderr");
	add_text(list, "-Xlog:disable");
	add_text(list, "-Xlog:all=warning:stderr");
	/*
	 * Avoids a memory barrier in each call into Java. The process has to register for that,
	 * which is fast while it has a single thread.
	 */
	if (threads_have_barrier())
		add_text(list, "-XX:+UseSystemMemoryBarrier");
	add_modules(list);
	add_library(list);
	add_variable(list, "RDMA4J_EXEC_OPTIONS", "\n");
	add_variable(list, "RDMA4J_JAVA_OPTS", " \t\n");
	/*
	 * Java puts no guard pages into the stack of the first thread, and takes it to be larger
	 * than the megabyte of Java's own threads. threads.c checks the bounds instead, with the
	 * same number; that is why this option comes last.
	 */
	add_text(list, "-XX:+UnlockExperimentalVMOptions");
	add_text(list, "-XX:+DisablePrimordialThreadGuardPages");
	add_text(list, "-XX:ThreadStackSize=" TEXT_OF(MAIN_STACK_KIB));
}

/*
 * The native methods of BRIDGE_DESCRIPTOR_CLASS. write on the device file of the connection manager
 * would be a command, hence libc_write. The counter of an eventfd is 0 or 1, so neither function
 * blocks.
 */

static void raise_descriptor(void *environment, void *java_class, int32_t descriptor)
{
	uint64_t one = 1;

	(void)environment;
	(void)java_class;
	/* The program may have closed it and opened something else. */
	if (!descriptor_mark(descriptor))
		return;
	if (libc_write(descriptor, &one, sizeof(one)) < 0)
		return;
	note_raised();
}

static void lower_descriptor(void *environment, void *java_class, int32_t descriptor)
{
	struct pollfd wait = { .fd = descriptor, .events = POLLIN };
	uint64_t count;

	(void)environment;
	(void)java_class;
	if (!descriptor_mark(descriptor))
		return;
	/* A program may have read the counter, although the interface does not allow that. */
	if (poll(&wait, 1, 0) > 0 && read(descriptor, &count, sizeof(count)) < 0)
		return;
}

static int64_t access_function(void *environment, void *java_class)
{
	(void)environment;
	(void)java_class;
	return (int64_t)(uintptr_t)access_memory;
}

static int32_t start_guardian(void *environment, void *java_class, int64_t table)
{
	(void)environment;
	(void)java_class;
	return guardian_start((const char *)(uintptr_t)table);
}

static void *find_class(jni_table environment, const char *name)
{
	void *(*find)(jni_table, const char *);

	find = JNI(environment, JNI_FIND_CLASS, void *(*)(jni_table, const char *));
	return find(environment, name);
}

static int register_class(jni_table environment, const char *name, const struct jni_native_method *methods, int32_t count)
{
	void *java_class = find_class(environment, name);
	int32_t (*add)(jni_table, void *, const struct jni_native_method *, int32_t);

	if (!java_class)
		return ENODEV;
	add = JNI(environment, JNI_REGISTER_NATIVES, int32_t (*)(jni_table, void *, const struct jni_native_method *, int32_t));
	return add(environment, java_class, methods, count) ? ENODEV : 0;
}

static int register_natives(jni_table environment)
{
	static const struct jni_native_method descriptor[] = {
		{ "raise", "(I)V", (void *)raise_descriptor },
		{ "lower", "(I)V", (void *)lower_descriptor },
	};
	static const struct jni_native_method memory[] = {
		{ "function", "()J", (void *)access_function },
	};
	static const struct jni_native_method guardian[] = {
		{ "start", "(J)I", (void *)start_guardian },
	};
	int error = register_class(environment, BRIDGE_DESCRIPTOR_CLASS, descriptor, 2);

	if (!error)
		error = register_class(environment, BRIDGE_MEMORY_CLASS, memory, 1);
	return error ? error : register_class(environment, BRIDGE_GUARDIAN_CLASS, guardian, 1);
}

static int find_entry(jni_table environment)
{
	void *java_class = find_class(environment, BRIDGE_ENTRY_CLASS);
	void *(*method)(jni_table, void *, const char *, const char *);
	void *(*new_reference)(jni_table, void *);

	if (!java_class)
		return ENODEV;
	method = JNI(environment, JNI_GET_STATIC_METHOD_ID, void *(*)(jni_table, void *, const char *, const char *));
	entry_method = method(environment, java_class, "call", "(IJ)I");
	if (!entry_method)
		return ENODEV;
	new_reference = JNI(environment, JNI_NEW_GLOBAL_REF, void *(*)(jni_table, void *));
	entry_class = new_reference(environment, java_class);
	return entry_class ? 0 : ENOMEM;
}

/* Prints and clears a pending exception of the calling thread. Returns whether there was one. */
static int clear_exception(jni_table environment)
{
	if (!JNI(environment, JNI_EXCEPTION_CHECK, uint8_t (*)(jni_table))(environment))
		return 0;
	JNI(environment, JNI_EXCEPTION_DESCRIBE, void (*)(jni_table))(environment);
	JNI(environment, JNI_EXCEPTION_CLEAR, void (*)(jni_table))(environment);
	return 1;
}

static int is_virtual_machine(struct dl_phdr_info *object, size_t bytes, void *unused)
{
	const char *name = object->dlpi_name ? strrchr(object->dlpi_name, '/') : NULL;

	(void)bytes;
	(void)unused;
	return name && !strcmp(name, "/libjvm.so");
}

/* The code of the virtual machine. */
static uintptr_t code_start, code_end;

static int find_code(struct dl_phdr_info *object, size_t bytes, void *unused)
{
	if (!is_virtual_machine(object, bytes, unused))
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
			code_start = object->dlpi_addr + part->p_vaddr;
			code_end = code_start + part->p_memsz;
		}
	}
	return 1;
}

int vm_has_code(const void *address)
{
	return (uintptr_t)address - code_start < code_end - code_start;
}

static int create_vm(const char *file, jni_table *environment)
{
	struct option_list list = { 0 };
	struct jni_arguments arguments = { .version = JNI_VERSION_24 };
	int32_t (*create)(jni_table *, jni_table *, struct jni_arguments *);
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		log_error("the Java virtual machine cannot be loaded: ", dlerror());
		return ENODEV;
	}
	dl_iterate_phdr(find_code, NULL);
	create = (int32_t (*)(jni_table *, jni_table *, struct jni_arguments *))dlsym(library, "JNI_CreateJavaVM");
	if (!create) {
		log_error("RDMA4J_EXEC_JVM does not name a Java virtual machine: ", file);
		return ENODEV;
	}
	add_options(&list);
	if (list.error) {
		log_error("not enough memory for the options of the Java virtual machine", "");
		return list.error;
	}
	arguments.option_count = list.count;
	arguments.options = list.options;
	if (create(&vm, environment, &arguments)) {
		log_error("the Java virtual machine did not start: see its message above", "");
		return ENODEV;
	}
	return 0;
}

static int start_vm(void)
{
	const char *file = getenv("RDMA4J_EXEC_JVM");
	jni_table environment = NULL;
	int error;

	if (!file || !*file) {
		log_error("RDMA4J_EXEC_JVM is not set: start the program with "
			  "\"rdma4j exec PROGRAM\"", "");
		return ENODEV;
	}
	if (dl_iterate_phdr(is_virtual_machine, NULL)) {
		log_error("a Java program cannot use RDMA through this library, because a process "
			  "can have only one virtual machine: use the rdma4j API, or start the "
			  "program with \"rdma4j run\" for its sockets", "");
		return ENODEV;
	}
	signals_start();
	error = create_vm(file, &environment);
	if (error)
		return error;
	error = register_natives(environment);
	if (!error)
		error = find_entry(environment);
	if (error) {
		clear_exception(environment);
		log_error("the Java virtual machine cannot find the rdma4j classes: "
			  "check RDMA4J_EXEC_MODULES", "");
	}
	JNI(vm, VM_DETACH_CURRENT_THREAD, int32_t (*)(jni_table))(vm);
	return error;
}

/* All locks are taken before fork: the child has no other thread that could release them. */

static void before_fork(void)
{
	pthread_mutex_lock(&start_lock);
	xrc_domains_before_fork();
	regions_before_fork();
	helpers_before_fork();
	threads_before_fork();
	signals_before_fork();
}

static void after_fork_in_parent(void)
{
	signals_after_fork();
	threads_after_fork();
	helpers_after_fork();
	regions_after_fork();
	xrc_domains_after_fork();
	pthread_mutex_unlock(&start_lock);
}

static void after_fork_in_child(void)
{
	signals_after_fork();
	if (state == RUNNING) {
		state = FORKED;
		regions_forget();
		threads_forget();
		helpers_forget();
	}
	threads_after_fork();
	helpers_after_fork();
	regions_after_fork();
	xrc_domains_after_fork();
	pthread_mutex_unlock(&start_lock);
}

static int refuse_in_child(void)
{
	static int has_reported;

	if (!has_reported) {
		has_reported = 1;
		log_error("a process created by fork cannot use devices that its parent has used: "
			  "call exec in it, or use the devices only after fork", "");
	}
	return ENODEV;
}

static int start_once(void)
{
	static int error = ENODEV;

	pthread_mutex_lock(&start_lock);
	if (state == NOT_STARTED) {
		error = threads_prepare();
		if (!error)
			error = start_in_thread(start_vm);
		/* A later call may come from a thread that can start it. */
		if (error != EDEADLK)
			__atomic_store_n(&state, error ? FAILED : RUNNING, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&start_lock);
	return state == RUNNING ? 0 : error;
}

int bridge_start(void)
{
	enum state now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	if (now == RUNNING)
		return 0;
	return now == FORKED ? refuse_in_child() : start_once();
}

int vm_check(void)
{
	enum state now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	if (now == RUNNING)
		return 0;
	return now == FORKED ? refuse_in_child() : ENODEV;
}

int vm_attach(void **environment)
{
	int32_t (*attach)(jni_table, void **, void *);
	int error = vm_check();

	if (error)
		return error;
	attach = JNI(vm, VM_ATTACH_CURRENT_THREAD_AS_DAEMON, int32_t (*)(jni_table, void **, void *));
	if (attach(vm, environment, NULL)) {
		*environment = NULL;
		return ENOMEM;
	}
	return 0;
}

void vm_detach(void)
{
	JNI(vm, VM_DETACH_CURRENT_THREAD, int32_t (*)(jni_table))(vm);
}

int bridge_call(enum bridge_operation operation, uint64_t *arguments)
{
	const union jni_value values[] = { { .i = operation }, { .j = (int64_t)(uintptr_t)arguments } };
	int32_t (*call)(jni_table, void *, void *, const union jni_value *);
	jni_table environment;
	int error;

	if (java_enter())
		return call_by_helper(CALL_CONTROL, operation, (uintptr_t)arguments, 0);
	environment = java_thread.environment;
	call = JNI(environment, JNI_CALL_STATIC_INT_METHOD_A, int32_t (*)(jni_table, void *, void *, const union jni_value *));
	error = call(environment, entry_class, entry_method, values);
	/* Java turns exceptions into errnos, but may lack the memory or the stack even for that. */
	if (clear_exception(environment))
		error = ENOMEM;
	java_leave();
	return error;
}

__attribute__((constructor)) static void follow_forks(void)
{
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
